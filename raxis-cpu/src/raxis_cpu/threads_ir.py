"""The thread pool's code, in LLVM IR.

One word, `@status`, holds the pool together: ``generation << 16 | busy workers << 1 | open``. The caller fills in the
job and opens a new generation; workers join by adding themselves to the count while it is open, and claim pieces of the
range until none is left. The caller claims pieces as well, then closes the generation and waits for those workers only
that have joined: one that wakes up late finds it closed, and no job ever waits for a thread to wake up. A worker that
finds nothing to do spins for a short while and then sleeps until the next job.

Every thread has a share of the pieces, the same part of every range, and helps the others when it has done it; and
shares are worked off forwards in one job, backwards in the next. Two jobs over the same memory thus find in a
processor's own cache what was touched last.
"""

from __future__ import annotations

MAX_THREADS = 512
"""The caller's thread and `MAX_THREADS` - 1 workers."""

_SPINS = 2000
"""How often a worker looks for a job before it sleeps: some 50 to 100 microseconds."""

PIECES = 16
"""Pieces of a range per thread: a thread that is late or slow leaves its pieces to the others."""

_PAUSES = {
    "x86_64": ("declare void @llvm.x86.sse2.pause()", "call void @llvm.x86.sse2.pause()"),
    "aarch64": ("declare void @llvm.aarch64.hint(i32)", "call void @llvm.aarch64.hint(i32 1)"),
}


def pool_ir(triple: str, set_mask: int | None) -> str:
    """The module's text.

    Args:
        triple: the machine, as LLVM names it.
        set_mask: the C constant SIG_SETMASK; None where there are no POSIX threads: jobs run in their callers' threads.
    """
    declaration, pause = _PAUSES.get(triple.split("-", maxsplit=1)[0], ("", ""))
    sizes = {"workers": MAX_THREADS - 1, "homes": MAX_THREADS, "spins": _SPINS, "pieces": PIECES}
    values = {"triple": triple, "set_mask": set_mask, "declaration": declaration, "pause": pause, **sizes}
    text = _FOR_EACH + (_SERIAL if set_mask is None else _POOL)
    for name, value in values.items():
        text = text.replace(f"${name}", str(value))
    return text


_FOR_EACH = """
target triple = "$triple"

; Call task(argument, index) for every index in [0, count).
define void @for_each(ptr %task, ptr %argument, i64 %count) {
  %call = alloca { ptr, ptr }, align 8
  %place = getelementptr { ptr, ptr }, ptr %call, i64 0, i32 1
  store ptr %task, ptr %call, align 8
  store ptr %argument, ptr %place, align 8
  call void @parallel_for(ptr @each, ptr %call, i64 %count, i64 1)
  ret void
}

define internal void @each(ptr %call, i64 %begin, i64 %end) {
entry:
  %place = getelementptr { ptr, ptr }, ptr %call, i64 0, i32 1
  %task = load ptr, ptr %call, align 8
  %argument = load ptr, ptr %place, align 8
  br label %next
next:
  %index = phi i64 [ %begin, %entry ], [ %following, %next ]
  call void %task(ptr %argument, i64 %index)
  %following = add i64 %index, 1
  %more = icmp slt i64 %following, %end
  br i1 %more, label %next, label %done
done:
  ret void
}
"""

_SERIAL = """
define void @parallel_for(ptr %function, ptr %argument, i64 %count, i64 %grain) {
  %some = icmp sgt i64 %count, 0
  br i1 %some, label %call, label %done
call:
  call void %function(ptr %argument, i64 0, i64 %count)
  br label %done
done:
  ret void
}
define void @set_limit(i64 %threads) {
  ret void
}
define void @reset() {
  ret void
}
define void @stop() {
  ret void
}
"""

_POOL = """
@status = internal global i64 0, align 128
@claimed = internal global [$homes x [16 x i64]] zeroinitializer, align 128
@gate = internal global i32 0, align 128
@function = internal global ptr null, align 128
@argument = internal global ptr null, align 8
@count = internal global i64 0, align 8
@piece = internal global i64 0, align 8
@pieces = internal global i64 0, align 8
@sharers = internal global i64 1, align 8
@backwards = internal global i1 0, align 8
@limit = internal global i64 1, align 128
@started = internal global i64 0, align 8
@sleeping = internal global i64 0, align 128
@stopping = internal global i32 0, align 8
@mutex = internal global [128 x i8] zeroinitializer, align 128
@wakeup = internal global [128 x i8] zeroinitializer, align 128
@threads = internal global [$workers x i64] zeroinitializer, align 8

declare i32 @pthread_create(ptr, ptr, ptr, ptr)
declare i32 @pthread_join(i64, ptr)
declare i32 @pthread_sigmask(i32, ptr, ptr)
declare i32 @pthread_mutex_init(ptr, ptr)
declare i32 @pthread_mutex_lock(ptr)
declare i32 @pthread_mutex_unlock(ptr)
declare i32 @pthread_cond_init(ptr, ptr)
declare i32 @pthread_cond_wait(ptr, ptr)
declare i32 @pthread_cond_broadcast(ptr)
declare i32 @sigfillset(ptr)
declare i32 @sched_yield()
$declaration

; Call function(argument, begin, end) for pieces of [0, count); every begin is a multiple of grain (at least 1).
define void @parallel_for(ptr %function, ptr %argument, i64 %count, i64 %grain) {
entry:
  %limit = load atomic i64, ptr @limit monotonic, align 8
  %alone = icmp sle i64 %limit, 1
  %small = icmp sle i64 %count, %grain
  %serial = or i1 %alone, %small
  br i1 %serial, label %whole, label %enter
enter:
  %held = cmpxchg ptr @gate, i32 0, i32 1 acquire monotonic
  %mine = extractvalue { i32, i1 } %held, 1
  br i1 %mine, label %shared, label %whole
whole:
  %some = icmp sgt i64 %count, 0
  br i1 %some, label %call, label %done
call:
  call void %function(ptr %argument, i64 0, i64 %count)
  br label %done
shared:
  call void @start_workers(i64 %limit)
  %most = mul i64 %limit, $pieces
  %fair = call i64 @divided_up(i64 %count, i64 %most)
  %grains = call i64 @divided_up(i64 %fair, i64 %grain)
  %piece = mul i64 %grains, %grain
  %pieces = call i64 @divided_up(i64 %count, i64 %piece)
  store ptr %function, ptr @function, align 8
  store ptr %argument, ptr @argument, align 8
  store i64 %count, ptr @count, align 8
  store i64 %piece, ptr @piece, align 8
  store i64 %pieces, ptr @pieces, align 8
  %forwards = load i1, ptr @backwards, align 8
  %turned = xor i1 %forwards, true
  store i1 %turned, ptr @backwards, align 8
  store atomic i64 %limit, ptr @sharers monotonic, align 8
  br label %clear
clear:
  %home = phi i64 [ 0, %shared ], [ %following, %clear ]
  %counter = getelementptr [$homes x [16 x i64]], ptr @claimed, i64 0, i64 %home
  store atomic i64 0, ptr %counter monotonic, align 8
  %following = add i64 %home, 1
  %more = icmp slt i64 %following, %limit
  br i1 %more, label %clear, label %open
open:
  %before = load atomic i64, ptr @status monotonic, align 8
  %generation = add i64 %before, 65536
  %opened = or i64 %generation, 1
  store atomic i64 %opened, ptr @status seq_cst, align 8
  %sleeping = load atomic i64, ptr @sleeping seq_cst, align 8
  %asleep = icmp ne i64 %sleeping, 0
  br i1 %asleep, label %wake, label %help
wake:
  call void @wake_all()
  br label %help
help:
  call void @work(i64 0)
  %closed = atomicrmw and ptr @status, i64 -2 acq_rel
  br label %wait
wait:
  %turn = phi i64 [ 0, %help ], [ %turns, %again ]
  %status = load atomic i64, ptr @status acquire, align 8
  %workers = and i64 %status, 65534
  %finished = icmp eq i64 %workers, 0
  br i1 %finished, label %leave, label %rest
rest:
  $pause
  %turns = add i64 %turn, 1
  %patient = icmp slt i64 %turns, $spins
  br i1 %patient, label %again, label %give_way
give_way:
  %yielded = call i32 @sched_yield()
  br label %again
again:
  br label %wait
leave:
  store atomic i32 0, ptr @gate release, align 4
  br label %done
done:
  ret void
}

; How many threads work on one range, the caller's included.
define void @set_limit(i64 %threads) {
  store atomic i64 %threads, ptr @limit monotonic, align 8
  ret void
}

; Bring the pool to its first state: before its first use, and in a forked child, where no worker exists.
define void @reset() {
  store atomic i64 0, ptr @status monotonic, align 8
  store atomic i64 0, ptr @sleeping monotonic, align 8
  store atomic i32 0, ptr @stopping monotonic, align 4
  store i64 0, ptr @started, align 8
  %mutex = call i32 @pthread_mutex_init(ptr @mutex, ptr null)
  %wakeup = call i32 @pthread_cond_init(ptr @wakeup, ptr null)
  store atomic i32 0, ptr @gate release, align 4
  ret void
}

; End all workers, after the job at hand. Later jobs run in their callers' threads.
define void @stop() {
entry:
  store atomic i64 1, ptr @limit monotonic, align 8
  br label %enter
enter:
  %held = cmpxchg ptr @gate, i32 0, i32 1 acquire monotonic
  %mine = extractvalue { i32, i1 } %held, 1
  br i1 %mine, label %entered, label %occupied
occupied:
  %yielded = call i32 @sched_yield()
  br label %enter
entered:
  store atomic i32 1, ptr @stopping seq_cst, align 4
  call void @wake_all()
  %started = load i64, ptr @started, align 8
  br label %next
next:
  %number = phi i64 [ 0, %entered ], [ %following, %join ]
  %more = icmp slt i64 %number, %started
  br i1 %more, label %join, label %joined
join:
  %place = getelementptr [$workers x i64], ptr @threads, i64 0, i64 %number
  %thread = load i64, ptr %place, align 8
  %failure = call i32 @pthread_join(i64 %thread, ptr null)
  %following = add i64 %number, 1
  br label %next
joined:
  store i64 0, ptr @started, align 8
  store atomic i32 0, ptr @stopping monotonic, align 4
  store atomic i32 0, ptr @gate release, align 4
  ret void
}

define internal i64 @divided_up(i64 %amount, i64 %unit) {
  %above = add i64 %amount, %unit
  %raised = sub i64 %above, 1
  %quotient = udiv i64 %raised, %unit
  ret i64 %quotient
}

define internal void @wake_all() {
  %locked = call i32 @pthread_mutex_lock(ptr @mutex)
  %woken = call i32 @pthread_cond_broadcast(ptr @wakeup)
  %unlocked = call i32 @pthread_mutex_unlock(ptr @mutex)
  ret void
}

; Workers block all signals: those are for the threads of the program.
define internal void @start_workers(i64 %limit) {
entry:
  %wanted = sub i64 %limit, 1
  %first = load i64, ptr @started, align 8
  %enough = icmp sge i64 %first, %wanted
  br i1 %enough, label %done, label %mask
mask:
  %all = alloca [128 x i8], align 16
  %own = alloca [128 x i8], align 16
  %filled = call i32 @sigfillset(ptr %all)
  %masked = call i32 @pthread_sigmask(i32 $set_mask, ptr %all, ptr %own)
  br label %start
start:
  %number = phi i64 [ %first, %mask ], [ %following, %succeeded ]
  %place = getelementptr [$workers x i64], ptr @threads, i64 0, i64 %number
  %own_home = add i64 %number, 1
  %name = inttoptr i64 %own_home to ptr
  %failure = call i32 @pthread_create(ptr %place, ptr null, ptr @worker, ptr %name)
  %failed = icmp ne i32 %failure, 0
  br i1 %failed, label %unmask, label %succeeded
succeeded:
  %following = add i64 %number, 1
  store i64 %following, ptr @started, align 8
  %more = icmp slt i64 %following, %wanted
  br i1 %more, label %start, label %unmask
unmask:
  %unmasked = call i32 @pthread_sigmask(i32 $set_mask, ptr %own, ptr null)
  br label %done
done:
  ret void
}

; Work off the share of thread `home`, then help the others with theirs.
define internal void @work(i64 %home) {
entry:
  %sharers = load atomic i64, ptr @sharers monotonic, align 8
  br label %share
share:
  %turn = phi i64 [ 0, %entry ], [ %following, %share ]
  %sum = add i64 %home, %turn
  %whose = urem i64 %sum, %sharers
  call void @work_off(i64 %whose, i64 %sharers)
  %following = add i64 %turn, 1
  %more = icmp slt i64 %following, %sharers
  br i1 %more, label %share, label %done
done:
  ret void
}

; Where the share of thread `home` begins, in pieces.
define internal i64 @share_of(i64 %home, i64 %sharers) {
  %pieces = load i64, ptr @pieces, align 8
  %product = mul i64 %home, %pieces
  %first = udiv i64 %product, %sharers
  ret i64 %first
}

; Claim pieces of the share of thread `home` until none is left.
define internal void @work_off(i64 %home, i64 %sharers) {
entry:
  %function = load ptr, ptr @function, align 8
  %argument = load ptr, ptr @argument, align 8
  %count = load i64, ptr @count, align 8
  %piece = load i64, ptr @piece, align 8
  %backwards = load i1, ptr @backwards, align 8
  %counter = getelementptr [$homes x [16 x i64]], ptr @claimed, i64 0, i64 %home
  %first = call i64 @share_of(i64 %home, i64 %sharers)
  %neighbour = add i64 %home, 1
  %beyond = call i64 @share_of(i64 %neighbour, i64 %sharers)
  %size = sub i64 %beyond, %first
  br label %look
look:
  %seen = load atomic i64, ptr %counter monotonic, align 8
  %some = icmp slt i64 %seen, %size
  br i1 %some, label %claim, label %done
claim:
  %number = atomicrmw add ptr %counter, i64 1 monotonic
  %left = icmp slt i64 %number, %size
  br i1 %left, label %run, label %done
run:
  %from_first = add i64 %first, %number
  %from_last_1 = sub i64 %beyond, %number
  %from_last = sub i64 %from_last_1, 1
  %claimed = select i1 %backwards, i64 %from_last, i64 %from_first
  %begin = mul i64 %claimed, %piece
  %after = add i64 %begin, %piece
  %end = call i64 @llvm.smin.i64(i64 %after, i64 %count)
  call void %function(ptr %argument, i64 %begin, i64 %end)
  br label %look
done:
  ret void
}
declare i64 @llvm.smin.i64(i64, i64)

; Take part in the open generation unless it is `last` or has no share for thread `home`: its number, or 0.
define internal i64 @join(i64 %home, i64 %last) {
entry:
  %first = load atomic i64, ptr @status seq_cst, align 8
  br label %look
look:
  %status = phi i64 [ %first, %entry ], [ %found, %try ]
  %generation = lshr i64 %status, 16
  %bit = and i64 %status, 1
  %open = icmp ne i64 %bit, 0
  %fresh = icmp ne i64 %generation, %last
  %sharers = load atomic i64, ptr @sharers monotonic, align 8
  %room = icmp slt i64 %home, %sharers
  %lively = and i1 %open, %fresh
  %welcome = and i1 %lively, %room
  br i1 %welcome, label %try, label %no
try:
  %joined = add i64 %status, 2
  %result = cmpxchg ptr @status, i64 %status, i64 %joined acq_rel acquire
  %found = extractvalue { i64, i1 } %result, 0
  %success = extractvalue { i64, i1 } %result, 1
  br i1 %success, label %yes, label %look
yes:
  ret i64 %generation
no:
  ret i64 0
}

define internal void @work_and_leave(i64 %home) {
  call void @work(i64 %home)
  %left = atomicrmw sub ptr @status, i64 2 acq_rel
  ret void
}

define internal ptr @worker(ptr %name) {
entry:
  %home = ptrtoint ptr %name to i64
  br label %look
look:
  %last = phi i64 [ 0, %entry ], [ %last, %rest ], [ %spun, %spun_work ], [ %slept, %slept_work ]
  %turn = phi i64 [ 0, %entry ], [ %turns, %rest ], [ 0, %spun_work ], [ 0, %slept_work ]
  %spun = call i64 @join(i64 %home, i64 %last)
  %idle = icmp eq i64 %spun, 0
  br i1 %idle, label %rest_or_sleep, label %spun_work
spun_work:
  call void @work_and_leave(i64 %home)
  br label %look
rest_or_sleep:
  %turns = add i64 %turn, 1
  %patient = icmp slt i64 %turns, $spins
  br i1 %patient, label %rest, label %sleep
rest:
  $pause
  br label %look
sleep:
  %locked = call i32 @pthread_mutex_lock(ptr @mutex)
  %counted = atomicrmw add ptr @sleeping, i64 1 seq_cst
  br label %check
check:
  %slept = call i64 @join(i64 %home, i64 %last)
  %none = icmp eq i64 %slept, 0
  br i1 %none, label %stay, label %awake
stay:
  %stopping = load atomic i32, ptr @stopping seq_cst, align 4
  %stop = icmp ne i32 %stopping, 0
  br i1 %stop, label %end, label %wait
wait:
  %waited = call i32 @pthread_cond_wait(ptr @wakeup, ptr @mutex)
  br label %check
awake:
  call void @rise()
  br label %slept_work
slept_work:
  call void @work_and_leave(i64 %home)
  br label %look
end:
  call void @rise()
  ret ptr null
}

define internal void @rise() {
  %counted = atomicrmw sub ptr @sleeping, i64 1 seq_cst
  %unlocked = call i32 @pthread_mutex_unlock(ptr @mutex)
  ret void
}
"""
