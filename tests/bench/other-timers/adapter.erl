%% SPDX-License-Identifier: GPL-2.0
%%
%% Timers of Erlang replay a trace (tests/bench/compared/trace.h).
%%
%% Documents: the Efficiency Guide, which has erlang:start_timer() rather than the module timer;
%% erlang:start_timer/4 with an absolute time, erlang:cancel_timer/2 without asking for its
%% result. There is no other way to push a timer back than to cancel it and to start another. An
%% expiry is a message to a process: this one, and in mode busy another. The references are in a
%% table of ETS. Schedulers do not spin before they sleep (+sbwt none).
-module(adapter).
-export([main/1]).

-define(MAGIC, 16#43525754).
-define(MS, 1000000).
-define(STEP, 1001000).
-define(BUSY_EVERY, 100 * ?MS).
-define(BUSY, 20 * ?MS).

-record(replay, {mode, meter, start, busy_at, taker, timers, deadlines, expired, lateness}).

main([Name, Mode]) ->
    {ok, <<?MAGIC:32/little, Connections:32/little, Records:32/little, Expiries:32/little,
	   _:16/binary, Trace/binary>>} = file:read_file(Name),
    Records = byte_size(Trace) div 16,
    {ok, Meter} = file:open("/proc/twheel_meter", [write, raw]),
    R = #replay{mode = list_to_atom(Mode), meter = Meter,
		timers = ets:new(timers, [set, private]),
		deadlines = atomics:new(Connections, []),
		expired = counters:new(1, []),
		lateness = ets:new(lateness, [set, public])},
    Taker = case R#replay.mode of
		busy -> spawn_link(fun() -> take(R) end);
		_ -> self()
	    end,
    mark(R, "begin"),
    Start = now_ns(),
    replay(Trace, R#replay{start = Start, busy_at = Start + ?BUSY_EVERY, taker = Taker}),
    mark(R, "end"),
    R#replay.mode =/= empty andalso report(R, Expiries),
    halt(0).

now_ns() ->
    erlang:monotonic_time(nanosecond).

mark(R, Word) ->
    ok = file:write(R#replay.meter, Word).

%% In the milliseconds of timers, rounded up. Times before an arbitrary one are negative.
ms_after(Ns) when Ns > 0 ->
    (Ns + ?MS - 1) div ?MS;
ms_after(Ns) ->
    Ns div ?MS.

replay(<<Step:32/little, _/binary>> = Trace, R) ->
    At = R#replay.start + Step * ?STEP,
    wait(R, case R#replay.mode of
		busy -> min(At, R#replay.busy_at);
		_ -> At
	    end),
    Now = now_ns(),
    case carry_out(Trace, R, Now) of
	done -> ok;
	Rest -> replay(Rest, compute(R, Now))
    end.

wait(R, At) ->
    receive
	{timeout, _, Connection} ->
	    expired(R, Connection),
	    wait(R, At)
    after max(0, ms_after(At - now_ns())) ->
	    ok
    end.

%% A handler that comes after the others.
compute(#replay{mode = busy, busy_at = At} = R, Now) when Now >= At ->
    spin(now_ns() + ?BUSY),
    R#replay{busy_at = At + ?BUSY_EVERY};
compute(R, _) ->
    R.

spin(End) ->
    case now_ns() < End of
	true -> spin(End);
	false -> ok
    end.

carry_out(<<Step:32/little, Connection:32/little, Op:32/little, Timeout:32/little, More/binary>> = Trace,
	  #replay{start = Start} = R, Now) ->
    if
	Start + Step * ?STEP > Now -> Trace;
	Op =:= 4 -> done;
	Op =:= 3 -> mark(R, "full"), carry_out(More, R, Now);
	R#replay.mode =:= empty -> carry_out(More, R, Now);
	true -> operate(Op, Connection, Now + Timeout * ?MS, R), carry_out(More, R, Now)
    end.

operate(2, Connection, _, R) ->
    cancel(Connection, R),
    ets:delete(R#replay.timers, Connection);
operate(1, Connection, Deadline, R) ->
    cancel(Connection, R),
    operate(0, Connection, Deadline, R);
operate(0, Connection, Deadline, R) ->
    is_late(R) andalso atomics:put(R#replay.deadlines, Connection + 1, Deadline),
    Timer = erlang:start_timer(ms_after(Deadline), R#replay.taker, Connection, [{abs, true}]),
    ets:insert(R#replay.timers, {Connection, Timer}).

cancel(Connection, R) ->
    Timer = ets:lookup_element(R#replay.timers, Connection, 2),
    erlang:cancel_timer(Timer, [{async, true}, {info, false}]).

is_late(R) ->
    R#replay.mode =:= late orelse R#replay.mode =:= busy.

take(R) ->
    receive
	{timeout, _, Connection} ->
	    expired(R, Connection),
	    take(R)
    end.

expired(R, Connection) ->
    counters:add(R#replay.expired, 1, 1),
    is_late(R) andalso
	ets:insert(R#replay.lateness,
		   {Connection, now_ns() - atomics:get(R#replay.deadlines, Connection + 1)}).

report(R, Expiries) ->
    Expired = counters:get(R#replay.expired, 1),
    io:format("expired ~b timers~n", [Expired]),
    Expired = Expiries,
    is_late(R) andalso
	begin
	    Late = list_to_tuple(lists:sort([Ns || {_, Ns} <- ets:tab2list(R#replay.lateness)])),
	    Nr = tuple_size(Late),
	    io:format("early ~b timers~n", [length([Ns || Ns <- tuple_to_list(Late), Ns < 0])]),
	    io:format("earliest ~b ns~n", [max(0, -element(1, Late))]),
	    io:format("p50 ~b ns~n", [element(Nr div 2 + 1, Late)]),
	    io:format("p99 ~b ns~n", [element(Nr - Nr div 100, Late)]),
	    io:format("worst ~b ns~n", [element(Nr, Late)]),
	    true = element(1, Late) >= 0
	end.
