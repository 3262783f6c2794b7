"""The profiler: which events there are, how they are nested, and the files it writes."""

from __future__ import annotations

import gzip
import json
import os
import threading
from collections import Counter

import pytest
import torch

import raxis
from raxis import profiler
from raxis.interception import active, anyone
from raxis.ops import tables
from raxis.profiler import ProfilerAction, ProfilerActivity, profile, record_function, schedule


def loss_of(x, w):
    return ((x @ w).relu() * 2).sum()


@pytest.fixture
def operands():
    return raxis.ones(3, 4), raxis.ones(4, 5, requires_grad=True)


def counts(profiled, kind="op"):
    return Counter(event.name for event in profiled.events() if event.kind == kind)


def test_each_op_is_an_event_and_kernels_are_inside(operands):
    with profile() as profiled:
        loss_of(*operands)
    assert counts(profiled) == {"matmul": 1, "relu": 1, "mul": 1, "sum": 1}
    kernels = [event for event in profiled.events() if event.kind == "kernel"]
    assert len(kernels) == 4
    assert all(event.cpu_parent.kind == "op" for event in kernels)


def test_results_and_gradients_are_those_of_a_run_without_it(operands):
    x, w = operands
    loss_of(x, w).backward()
    expected, w.grad = w.grad.tolist(), None
    with profile(record_shapes=True, with_stack=True, profile_memory=True):
        loss_of(x, w).backward()
    assert w.grad.tolist() == expected


def test_backward_nodes_are_events_at_the_line_of_the_forward_op(operands):
    with profile() as profiled:
        loss = loss_of(*operands)
        loss.backward()
    nodes = [event for event in profiled.events() if event.kind == "backward"]
    names = ["SumBackward0", "MulBackward0", "ReluBackward0", "MatmulBackward0", "AccumulateGrad"]
    assert [node.name for node in nodes] == names
    assert [node.forward.name for node in nodes[:4]] == ["sum", "mul", "relu", "matmul"]
    assert nodes[0].line == f"{__file__}:{loss_of.__code__.co_firstlineno + 1}"
    assert [child.kind for child in nodes[1].cpu_children] == ["op"]


def test_hooks_and_chosen_inputs_run_as_ever(operands):
    x, w = operands
    seen = []
    w.register_hook(seen.append)
    with profile() as profiled:
        (grad,) = raxis.autograd.grad(loss_of(x, w), [w])
        loss_of(x, w).backward()
    assert len(seen) == 2
    assert grad.tolist() == w.grad.tolist() == [[6.0] * 5] * 4
    assert counts(profiled, "backward")["SumBackward0"] == 2


def test_times_are_nested_and_sum_up(operands):
    with profile() as profiled:
        loss_of(*operands).backward()
    events = profiled.events()
    for event in events:
        assert event.cpu_time_total >= event.self_cpu_time_total >= 0
        if event.cpu_parent is not None:
            assert event.cpu_parent.start_ns <= event.start_ns <= event.end_ns <= event.cpu_parent.end_ns
    outer = [event for event in events if event.cpu_parent is None]
    wall = events[-1].end_ns - events[0].start_ns
    assert sum(event.duration_ns for event in outer) <= max(wall, outer[-1].end_ns - outer[0].start_ns)
    assert events.self_cpu_time_total == pytest.approx(sum(event.cpu_time_total for event in outer))


def test_record_function_is_an_event_around(operands):
    with profile() as profiled, record_function("forward"):
        loss_of(*operands)
    (user,) = [event for event in profiled.events() if event.kind == "user"]
    assert user.name == "forward"
    assert [child.name for child in user.cpu_children] == ["matmul", "relu", "mul", "sum"]


def test_record_function_decorates_and_does_nothing_when_off():
    @record_function("countdown")
    def countdown(number):
        return number and countdown(number - 1)

    assert countdown(2) == 0
    with profile() as profiled:
        assert countdown(2) == 0
    assert counts(profiled, "user") == {"countdown": 3}
    (group,) = profiled.key_averages()
    outermost = profiled.events()[0]
    assert group.cpu_time_total == outermost.cpu_time_total  # nested calls are not counted twice


def test_key_averages_group_by_name_or_shapes():
    with profile(record_shapes=True) as profiled:
        for size in (2, 3, 3):
            raxis.ones(size, size) + 1
    assert {item.key: item.count for item in profiled.key_averages() if item.key in ("add", "ones")} == {
        "ones": 3,
        "add": 3,
    }
    by_shape = [item for item in profiled.key_averages(group_by_input_shape=True) if item.key == "add"]
    assert [(item.count, item.input_shapes[0]) for item in by_shape] == [(1, [2, 2]), (2, [3, 3])]


def test_columns_are_those_of_torch(operands):
    with profile(record_shapes=True) as profiled:
        loss_of(*operands)
    x = torch.ones(3, 4)
    with torch.profiler.profile(
        activities=[torch.profiler.ProfilerActivity.CPU], record_shapes=True
    ) as theirs:
        x.relu()
    table = profiled.key_averages(group_by_input_shape=True).table(sort_by="self_cpu_time_total", row_limit=2)
    titles = ["Name", "Self CPU %", "Self CPU", "CPU total %", "CPU total", "CPU time avg", "# of Calls"]
    titles.append("Input Shapes")
    for text in (table, theirs.key_averages(group_by_input_shape=True).table()):
        assert [title for title in titles if title not in text] == []
    lines = table.splitlines()
    assert len(lines) == 7  # rule, titles, rule, two rows, rule, total
    assert lines[-1].startswith("Self CPU time total: ")


def test_table_sorts_and_limits(operands):
    with profile() as profiled:
        for _ in range(3):
            operands[0] + 1
        loss_of(*operands)
    groups = profiled.key_averages()
    rows = groups.table(sort_by="count", row_limit=-1, max_name_column_width=12).splitlines()[3:-2]
    assert [int(row.split()[-1]) for row in rows] == sorted((item.count for item in groups), reverse=True)
    assert len(groups.table(row_limit=1).splitlines()) == 1 + 5
    assert len(groups.table(row_limit=-1).splitlines()) == len(groups) + 5
    assert groups.total_average().count == len(profiled.events())
    with pytest.raises(ValueError, match="Did you mean 'self_cpu_time_total'"):
        groups.table(sort_by="self_cpu_time")


def test_memory_of_large_results():
    with profile(profile_memory=True) as profiled:
        kept = raxis.ones(1 << 20) + 1
    (add,) = [event for event in profiled.events() if event.name == "add"]
    measured = raxis.backends.registry.default.resolve(raxis.device("cpu"))[0].memory_stats(0)
    assert add.cpu_memory_usage >= kept.nbytes if measured else add.cpu_memory_usage == 0
    assert "CPU Mem" in profiled.key_averages().table()


def test_plans_are_found_again_afterwards(operands):
    x, _ = operands
    x.sin()
    plans = raxis.ops.table.OPS["sin"].plans
    before = dict(plans)
    with profile():
        assert not plans
        x.sin()
        x.cos()
    assert before.items() <= plans.items()
    assert active.observer is None
    assert not anyone.records
    assert tables.find(plans, next(iter(before))) is before[next(iter(before))]


def test_an_error_inside_ends_its_events(operands):
    x, _ = operands
    with profile() as profiled:
        with pytest.raises(RuntimeError), record_function("fails"):
            x @ x
        x + 1
    assert all(event.end_ns is not None for event in profiled.events())
    (add,) = [event for event in profiled.events() if event.name == "add"]
    assert add.cpu_parent is None


def test_other_threads_run_unobserved(operands):
    x, _ = operands
    found = []
    with profile() as profiled:
        thread = threading.Thread(target=lambda: found.append((x + 1).sum().item()))
        thread.start()
        thread.join()
    assert found == [24.0]
    assert len(profiled.events()) == 0


def test_each_thread_has_its_own_profile(operands):
    x, _ = operands
    barrier = threading.Barrier(2)
    found = {}

    def work(name, times):
        barrier.wait()
        with profile() as profiled:
            for _ in range(times):
                x + 1
        found[name] = counts(profiled)["add"]

    threads = [threading.Thread(target=work, args=item) for item in (("a", 2), ("b", 5))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == {"a": 2, "b": 5}
    assert not anyone.records


def test_profiles_can_be_nested(operands):
    x, _ = operands
    with profile() as outer:
        x + 1
        with profile() as inner:
            x + 1
        x + 1
    assert (counts(outer)["add"], counts(inner)["add"]) == (3, 1)


def test_stopping_on_another_thread_is_an_error():
    with profile() as profiled:
        errors = []

        def stop():
            try:
                profiled.stop()
            except RuntimeError as error:
                errors.append(str(error))

        thread = threading.Thread(target=stop)
        thread.start()
        thread.join()
        assert errors == ["a profile must be stopped on the thread that started it."]


# ---- schedules ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("options", [(1, 1, 2, 2, 0), (0, 1, 1, 0, 3), (2, 1, 3, 1, 1)])
def test_schedule_is_that_of_torch(options):
    names = ("wait", "warmup", "active", "repeat", "skip_first")
    arguments = dict(zip(names, options, strict=True))
    ours, theirs = schedule(**arguments), torch.profiler.schedule(**arguments)
    assert [ours(step).name for step in range(20)] == [theirs(step).name for step in range(20)]


def test_schedule_refuses_what_it_cannot_do():
    with pytest.raises(ValueError, match="active=0"):
        schedule(wait=1, warmup=0, active=0)


def test_a_trace_is_ready_after_each_cycle(operands):
    traces = []
    plan = schedule(wait=1, warmup=1, active=2, repeat=2)
    with profile(schedule=plan, on_trace_ready=lambda p: traces.append(p.events())) as profiled:
        for _ in range(10):
            operands[0] + 1
            profiled.step()
    assert [[event.name for event in trace if event.kind == "step"] for trace in traces] == [
        ["ProfilerStep#2", "ProfilerStep#3"],
        ["ProfilerStep#6", "ProfilerStep#7"],
    ]
    for trace in traces:
        assert [event.cpu_parent.kind for event in trace if event.name == "add"] == ["step", "step"]
    assert profiled.step_num == 10
    assert active.observer is None


def test_warming_up_is_thrown_away(operands):
    ready = []
    with profile(schedule=schedule(wait=0, warmup=1, active=1), on_trace_ready=ready.append) as profiled:
        assert active.observer is not None
        operands[0] + 1
    assert ready == []
    with pytest.raises(RuntimeError, match="no events yet"):
        profiled.events()
    assert active.observer is None


def test_without_a_schedule_the_trace_is_ready_at_the_end(operands):
    ready = []
    with profile(on_trace_ready=ready.append) as profiled:
        with pytest.raises(RuntimeError, match="no events yet"):
            profiled.key_averages()
        operands[0] + 1
    assert ready == [profiled]


def test_activities():
    assert profiler.supported_activities() == {ProfilerActivity.CPU}
    with profile(activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA]) as profiled:
        pass
    assert profiled.events() == []
    with pytest.raises(ValueError, match="activities"):
        profile(activities=["GPU"])
    assert ProfilerAction.RECORD_AND_SAVE.value == 3


# ---- files -------------------------------------------------------------------------------------------


def test_chrome_trace_is_json_of_spans_and_arrows(operands, tmp_path):
    with profile(record_shapes=True) as profiled:
        loss_of(*operands).backward()
    profiled.add_metadata("model", "test")
    profiled.export_chrome_trace(tmp_path / "trace.json")
    trace = json.loads((tmp_path / "trace.json").read_text())
    spans = [item for item in trace["traceEvents"] if item["ph"] == "X"]
    assert [span["name"] for span in spans] == [event.name for event in profiled.events()]
    assert all(span["dur"] >= 0 for span in spans)
    assert trace["metadata"] == {"model": "test"}
    matmul = spans[[span["name"] for span in spans].index("matmul")]
    assert matmul["args"]["Input Dims"] == [[3, 4], [4, 5]]
    arrows = Counter((item["ph"], item["id"]) for item in trace["traceEvents"] if item["ph"] in "sf")
    assert set(arrows.values()) == {1}
    assert len(arrows) == 2 * 4  # four backward nodes belong to forward ops
    profiled.export_chrome_trace(tmp_path / "trace.json.gz")
    assert json.loads(gzip.decompress((tmp_path / "trace.json.gz").read_bytes())) == trace


def test_folded_stacks_end_with_op_and_kernel(operands, tmp_path):
    with profile(with_stack=True) as profiled:
        loss_of(*operands)
    profiled.export_stacks(tmp_path / "stacks.txt")
    lines = (tmp_path / "stacks.txt").read_text().splitlines()
    stacks = [line.rsplit(" ", 1)[0].split(";") for line in lines]
    assert all(int(line.rsplit(" ", 1)[1]) > 0 for line in lines)
    kernels = [stack for stack in stacks if stack[-1].startswith("kernel")]
    assert {stack[-2] for stack in kernels} == {"matmul", "relu", "mul", "sum"}
    assert all("loss_of" in stack[-3] for stack in kernels)
    with profile() as bare:
        pass
    with pytest.raises(RuntimeError, match="with_stack=True"):
        bare.export_stacks(tmp_path / "none.txt")
    with pytest.raises(ValueError, match="metric"):
        profiled.export_stacks(tmp_path / "none.txt", "cuda_time")


def test_tensorboard_handler_writes_one_file_per_cycle(operands, tmp_path):
    plan = schedule(wait=0, warmup=0, active=1, repeat=2)
    handler = profiler.tensorboard_trace_handler(tmp_path / "log", "me", use_gzip=True)
    with profile(schedule=plan, on_trace_ready=handler) as profiled:
        for _ in range(3):
            operands[0] + 1
            profiled.step()
    files = sorted((tmp_path / "log").iterdir())
    assert [file.name.startswith("me.") and file.name.endswith(".pt.trace.json.gz") for file in files] == [
        True
    ] * 2


# ---- compiled functions ------------------------------------------------------------------------------


def test_compiled_calls_and_their_kernels():
    function = raxis.compile(lambda x, w: ((x @ w).exp() @ w).sum())
    x, w = raxis.ones(3, 4), raxis.zeros(4, 4)
    expected = function(x, w).item()
    with profile() as profiled:
        result = function(x, w)
    assert result.item() == expected == 0.0
    assert [event.name for event in profiled.events() if event.cpu_parent is None] == ["compiled <lambda>"]
    kernels = profiled.events()[0].cpu_children
    assert kernels
    assert all(event.kind == "kernel" for event in kernels)


def test_recording_and_replaying_inside_of_a_profile():
    function = raxis.compile(lambda x: (x * 2).exp())
    x = raxis.zeros(3)
    with profile() as profiled:
        results = [function(x).tolist() for _ in range(3)]
        function(raxis.zeros(2))
    assert results == [[1.0, 1.0, 1.0]] * 3
    names = [event.name.split()[0] for event in profiled.events() if event.name.startswith("compile")]
    assert names == ["compile", "compiled", "compiled", "compile"]
    assert function(x).tolist() == [1.0, 1.0, 1.0]


def test_a_broken_guard_leaves_no_event():
    weight = raxis.ones(2)
    function = raxis.compile(lambda x: x * weight)
    function(raxis.ones(2))
    weight.data = raxis.full((2,), 3.0)
    with profile() as profiled:
        assert function(raxis.ones(2)).tolist() == [3.0, 3.0]
    assert [event.name for event in profiled.events() if event.name.startswith("compile")] == [
        "compile <lambda>"
    ]


def test_backward_of_compiled_functions():
    function = raxis.compile(lambda x, w: (x @ w).tanh().sum())
    x, w = raxis.ones(3, 4), raxis.zeros(4, 5, requires_grad=True)
    function(x, w).backward()
    w.grad = None
    with profile() as profiled:
        function(x, w).backward()
    assert w.grad.tolist() == [[3.0] * 5] * 4
    (node,) = [event for event in profiled.events() if event.name == "CompiledFunctionBackward"]
    assert node.forward.name == "compiled <lambda>"
    assert any(child.kind == "kernel" for child in node.cpu_children)


@pytest.mark.skipif(os.environ["RAXIS_CPU"] != "plugin", reason="kernels of raxis-cpu")
def test_kernels_of_compiled_functions_have_their_lines():
    def function(x, w):
        product = x @ w
        scaled = product * 3
        return scaled.exp()

    compiled = raxis.compile(function)
    x, w = raxis.ones(3, 4), raxis.ones(4, 5)
    compiled(x, w)
    with profile() as profiled:
        compiled(x, w)
    first = function.__code__.co_firstlineno
    product, rest = [event for event in profiled.events() if event.kind == "kernel"]
    assert (product.name, rest.name) == ("kernel dot_general", "kernel mul+exp")
    assert product.lines == (f"{__file__}:{first + 1}",)
    assert rest.lines == (f"{__file__}:{first + 2}", f"{__file__}:{first + 3}")
    assert rest.line == rest.lines[-1]
