#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""tests/models/litmus.py FILE...: can the outcome after "exists" come about?

Says "Never" or "Sometimes" of each, as herd7 -conf linux-kernel.cfg does. The files
are what tools/memory-model of the kernel takes, as far as it is needed here: marked
accesses, barriers, atomics, spinlocks and if. Locations are ints or pointers.

Reads may have any value that is ever written. What a file's processes do for each
choice of these is put together with each order of the writes (co) that fits. The
axioms of the kernel's linux-kernel.cat say whether such an execution is possible.
Each relation below has its name there. Plain accesses, RCU and SRCU are left out.
"""
import itertools
import re
import sys

TOKEN = re.compile(r'\s*(?:(\d+)|(\w+)|(==|!=|<=|>=|&&|\|\||[-+*&!<>=(){},;|^]))')
BINARY = {
    '||': lambda a, b: int(a or b), '&&': lambda a, b: int(a and b),
    '|': lambda a, b: a | b, '^': lambda a, b: a ^ b, '&': lambda a, b: a & b,
    '==': lambda a, b: int(a == b), '!=': lambda a, b: int(a != b),
    '<': lambda a, b: int(a < b), '>': lambda a, b: int(a > b),
    '<=': lambda a, b: int(a <= b), '>=': lambda a, b: int(a >= b),
    '+': lambda a, b: a + b, '-': lambda a, b: a - b,
}
LEVELS = [['||'], ['&&'], ['|'], ['^'], ['&'], ['==', '!='], ['<', '>', '<=', '>='],
          ['+', '-']]
FENCES = {'smp_mb': 'mb', 'smp_rmb': 'rmb', 'smp_wmb': 'wmb',
          'smp_mb__before_atomic': 'before-atomic',
          'smp_mb__after_atomic': 'after-atomic',
          'smp_mb__after_spinlock': 'after-spinlock',
          # No grace periods here, so that these order nothing.
          'rcu_read_lock': '', 'rcu_read_unlock': ''}
# Their argument is *x, or x, and how they are ordered.
LOADS = {'READ_ONCE': (True, ''), 'rcu_dereference': (True, ''),
         'smp_load_acquire': (False, 'acquire'), 'atomic_read': (False, ''),
         'atomic_read_acquire': (False, 'acquire')}
STORES = {'WRITE_ONCE': (True, ''), 'rcu_assign_pointer': (True, 'release'),
          'smp_store_release': (False, 'release'), 'atomic_set': (False, '')}
ORDERS = {'': 'mb', '_relaxed': 'once', '_acquire': 'acquire', '_release': 'release'}


class Unsupported(Exception):
    """What this is not made for."""


# Reading a file.

def tokens_of(text):
    tokens, at = [], 0
    text = text.rstrip()
    while at < len(text):
        found = TOKEN.match(text, at)
        if not found:
            raise Unsupported(text[at:at + 20])
        tokens.append(found[1] or found[2] or found[3])
        at = found.end()
    return tokens


class Parser:
    """Of C, to nested tuples."""

    def __init__(self, text):
        self.tokens = tokens_of(text) + [None]
        self.at = 0

    def peek(self):
        return self.tokens[self.at]

    def take(self, want=None):
        token = self.tokens[self.at]
        if want and token != want:
            raise Unsupported('%s where %s should be' % (token, want))
        self.at += 1
        return token

    def found(self, token):
        if self.peek() != token:
            return False
        self.at += 1
        return True

    def block(self):
        statements = []
        while self.peek() not in (None, '}'):
            statements += self.statement()
        return statements

    def body(self):
        if self.found('{'):
            statements = self.block()
            self.take('}')
            return statements
        return self.statement()

    def statement(self):
        if self.found(';'):
            return []
        if self.found('if'):
            self.take('(')
            condition = self.expression()
            self.take(')')
            then = self.body()
            return [('if', condition, then, self.body() if self.found('else') else [])]
        if self.peek() in ('int', 'atomic_t', 'void'):
            self.take()
            while self.found('*'):
                pass
        name = self.take()
        if self.found(';'):
            return []
        if self.found('='):
            done = ('set', name, self.expression())
        else:
            done = ('do', self.call(name))
        self.take(';')
        return [done]

    def call(self, name):
        self.take('(')
        arguments = []
        while not self.found(')'):
            arguments.append(self.expression())
            self.found(',')
        return ('call', name, arguments)

    def expression(self, level=0):
        if level == len(LEVELS):
            return self.unary()
        left = self.expression(level + 1)
        while self.peek() in LEVELS[level]:
            left = ('binary', self.take(), left, self.expression(level + 1))
        return left

    def unary(self):
        if self.found('('):
            inner = self.expression()
            self.take(')')
            return inner
        if self.found('*'):
            return ('at', self.unary())
        if self.found('!'):
            return ('not', self.unary())
        self.found('&')
        token = self.take()
        if token.isdigit():
            return ('number', int(token))
        return self.call(token) if self.peek() == '(' else ('name', token)


def condition_of(text):
    """A function of registers and memory."""
    text = text.replace('/\\', ' and ').replace('\\/', ' or ').replace('~', ' not ')
    text = re.sub(r'(\d+):(\w+)\s*=\s*(-?\w+)', r' reg(\1,"\2","\3") ', text)
    text = re.sub(r'\[?\b([a-zA-Z_]\w*)\]?\s*=\s*(-?\w+)', r' mem("\1","\2") ', text)
    code = compile(text.strip(), 'exists', 'eval')
    return lambda reg, mem: eval(code, {'reg': reg, 'mem': mem})


class Test:
    def __init__(self, text):
        text = re.sub(r'\(\*\s.*?\*\)|//[^\n]*|/\*.*?\*/', '', text, flags=re.S)
        head = re.match(r'\s*C\s+(\S+)\s*(?:"[^"]*"\s*)?\{(.*?)\}', text, re.S)
        self.name = head[1]
        self.init = {}
        for line in head[2].split(';'):
            found = re.match(r'\s*(?:int|atomic_t|spinlock_t)?\s*\**\s*(\w+)\s*'
                             r'(?:=\s*(?:ATOMIC_INIT\()?&?(\w+)\)?)?\s*$', line)
            if found:
                self.init[found[1]] = self.value(found[2] or '0')
        self.processes = []
        self.places = set(self.init)
        self.places |= {value for value in self.init.values() if value not in range(99)}
        for found in re.finditer(r'P(\d+)\(([^)]*)\)\s*\{(.*?)^\}', text, re.S | re.M):
            names = re.findall(r'(\w+)\s*(?:,|$)', found[2])
            self.places |= set(names)
            self.processes.append(Parser(found[3]).block())
        asked = re.search(r'^(~?exists|forall|filter)\b(.*)', text, re.S | re.M)
        if asked[1] != 'exists':
            raise Unsupported(asked[1])
        self.condition = condition_of(asked[2].strip())

    @staticmethod
    def value(word):
        return int(word) if re.fullmatch(r'-?\d+', word) else word


# What a process does, when its reads have given values.

class Event:
    def __init__(self, kind, process, place=None, value=None, tags=()):
        self.kind, self.process, self.place, self.value = kind, process, place, value
        self.tags = set(tags) - {''}
        self.addr, self.data, self.ctrl = set(), set(), set()
        self.rmw = None


class Run:
    """One way through a process. Values come with the reads that they depend on."""

    def __init__(self, test, number, given):
        self.test, self.number, self.given = test, number, list(given)
        self.events, self.registers, self.ctrl = [], {}, set()
        self.short = None
        self.statements(test.processes[number])

    def add(self, kind, place=None, value=None, tags=()):
        event = Event(kind, self.number, place, value, tags)
        event.ctrl = set(self.ctrl)
        self.events.append(event)
        return event

    def read(self, place, tags):
        where, needs = place
        event = self.add('R', where, None, tags)
        event.addr = set(needs)
        if not self.given:
            self.short = where
            raise IndexError
        event.value = self.given.pop(0)
        return event

    def write(self, place, value, tags):
        event = self.add('W', place[0], value[0], tags)
        event.addr, event.data = set(place[1]), set(value[1])
        return event

    def place(self, argument, starred):
        if starred:
            if argument[0] != 'at':
                raise Unsupported('a place without *')
            argument = argument[1]
        where, needs = self.value(argument)
        if where not in self.test.places:
            raise Unsupported('%s is no place' % (where,))
        return where, needs

    def value(self, e):
        if e[0] == 'number':
            return e[1], set()
        if e[0] == 'name':
            return self.registers.get(e[1], (e[1], set()))
        if e[0] == 'not':
            value, needs = self.value(e[1])
            return int(not value), needs
        if e[0] == 'binary':
            left, right = self.value(e[2]), self.value(e[3])
            return BINARY[e[1]](left[0], right[0]), left[1] | right[1]
        if e[0] == 'call':
            return self.call(e[1], e[2])
        raise Unsupported('a plain access')

    def call(self, name, a):
        if name in FENCES:
            if FENCES[name]:
                self.add('F', tags=[FENCES[name]])
            return None
        if name in LOADS:
            read = self.read(self.place(a[0], LOADS[name][0]), [LOADS[name][1]])
            return read.value, {read}
        if name in STORES:
            self.write(self.place(a[0], STORES[name][0]), self.value(a[1]),
                       [STORES[name][1]])
            return None
        if name == 'spin_lock':
            place = self.place(a[0], False)
            read = self.read(place, ['acquire', 'LKR', 'rmw'])
            read.rmw = self.write(place, (1, set()), ['LKW', 'rmw'])
            return None
        if name == 'spin_unlock':
            self.write(self.place(a[0], False), (0, set()), ['release', 'UL'])
            return None
        return self.change(name, a)

    def change(self, name, a):
        """An atomic read-modify-write."""
        what = re.fullmatch(r'(?:atomic_)?(xchg|cmpxchg|inc|dec|add|sub|inc_return|'
                            r'dec_return|add_return|sub_return|fetch_add|fetch_or)'
                            r'(_relaxed|_acquire|_release|)', name)
        if not what:
            raise Unsupported(name)
        op, order = what[1], ORDERS[what[2]]
        counts = op.startswith(('inc', 'dec', 'add', 'sub', 'fetch'))
        silent = op in ('inc', 'dec', 'add', 'sub')
        if silent:
            order = 'once'
        target = a[0]
        if counts and not op.startswith(('inc', 'dec')):
            target = a[1]
        fence = self.add('F', tags=['mb']) if order == 'mb' else None
        place = self.place(target, False)
        read = self.read(place, ['rmw', 'noreturn' if silent else '',
                                 'acquire' if order == 'acquire' else ''])
        old = read.value, {read}
        if op == 'cmpxchg':
            wanted, new = self.value(a[1]), self.value(a[2])
            if read.value != wanted[0]:
                if fence:
                    self.events.remove(fence)
                read.tags.discard('acquire')
                return old
        elif op == 'xchg':
            new = self.value(a[1])
        else:
            by = (1, set()) if op.startswith(('inc', 'dec')) else self.value(a[0])
            how = '|' if op == 'fetch_or' else '-' if op[:3] in ('dec', 'sub') else '+'
            new = BINARY[how](read.value, by[0]), by[1] | {read}
        read.rmw = self.write(place, new,
                              ['rmw', 'release' if order == 'release' else ''])
        if fence:
            self.add('F', tags=['mb'])
        return new if op.endswith('return') else old

    def statements(self, statements):
        for s in statements:
            if s[0] == 'set':
                self.registers[s[1]] = self.value(s[2])
            elif s[0] == 'do':
                self.call(s[1][1], s[1][2])
            else:
                value, needs = self.value(s[1])
                # A branch orders all that comes after it, too.
                self.ctrl |= needs
                self.statements(s[2] if value else s[3])


def runs_of(test, number, values, given=()):
    """All ways through a process, if the reads of each place have these values."""
    try:
        run = Run.__new__(Run)
        run.__init__(test, number, given)
        yield run
    except IndexError:
        for value in sorted(values[run.short], key=str):
            if run.events[-1].tags & {'LKR'} and value:
                continue
            yield from runs_of(test, number, values, (*given, value))


def all_runs(test):
    """For each process its ways, with all values that are ever written."""
    values = {place: {test.init.get(place, 0)} for place in test.places}
    # A value comes from a chain of writes, each of which is made once.
    for _ in range(1 + str(test.processes).count("'call'")):
        runs = [list(runs_of(test, number, values))
                for number in range(len(test.processes))]
        size = sum(map(len, values.values()))
        for run in itertools.chain(*runs):
            for event in run.events:
                if event.kind == 'W':
                    values[event.place].add(event.value)
        if size == sum(map(len, values.values())):
            break
    return runs


# Relations: for each event a set of events, as the bits of a number.

class Relation:
    def __init__(self, rows):
        self.rows = rows

    def __or__(self, other):
        return Relation([a | b for a, b in zip(self.rows, other.rows)])

    def __and__(self, other):
        return Relation([a & b for a, b in zip(self.rows, other.rows)])

    def __sub__(self, other):
        return Relation([a & ~b for a, b in zip(self.rows, other.rows)])

    def __matmul__(self, other):
        """a @ b is a ; b in a .cat file."""
        rows = []
        for row in self.rows:
            new = 0
            while row:
                low = row & -row
                new |= other.rows[low.bit_length() - 1]
                row ^= low
            rows.append(new)
        return Relation(rows)

    def inverse(self):
        n = len(self.rows)
        return Relation([sum(1 << j for j in range(n) if self.rows[j] >> i & 1)
                         for i in range(n)])

    def maybe(self):
        """r? in a .cat file."""
        return Relation([row | 1 << i for i, row in enumerate(self.rows)])

    def star(self):
        rows = self.maybe().rows
        for k, _ in enumerate(rows):
            through = rows[k]
            rows = [row | through if row >> k & 1 else row for row in rows]
        return Relation(rows)

    def acyclic(self):
        plus = self @ self.star()
        return not any(row >> i & 1 for i, row in enumerate(plus.rows))

    def empty(self):
        return not any(self.rows)


class Candidate:
    """Ways of all processes together, before reads and writes are matched."""

    def __init__(self, test, runs):
        self.test, self.runs = test, runs
        self.events = [Event('W', -1, place, test.init.get(place, 0))
                       for place in sorted(test.places)]
        for run in runs:
            self.events += run.events
        self.number = {event: i for i, event in enumerate(self.events)}
        e = self.events
        self.po = self.pairs(lambda a, b: a.process == b.process >= 0 and
                             self.number[a] < self.number[b])
        self.int = self.pairs(lambda a, b: a.process == b.process)
        self.loc = self.pairs(lambda a, b: a.place == b.place is not None)
        self.rmw = self.pairs(lambda a, b: a.rmw is b)
        self.addr = self.pairs(lambda a, b: a in b.addr)
        self.data = self.pairs(lambda a, b: a in b.data)
        self.ctrl = self.pairs(lambda a, b: a in b.ctrl)
        self.reads = [x for x in e if x.kind == 'R']
        self.writes = [x for x in e if x.kind == 'W']

    def pairs(self, related):
        return Relation([sum(1 << j for j, b in enumerate(self.events) if related(a, b))
                         for a in self.events])

    def these(self, wanted):
        """[S] in a .cat file."""
        return Relation([1 << i if wanted(event) else 0
                         for i, event in enumerate(self.events)])

    def tagged(self, tag):
        return self.these(lambda event: tag in event.tags)

    def sources(self):
        """All rf, as lists of writes."""
        return itertools.product(*[
            [w for w in self.writes if w.place == r.place and w.value == r.value]
            for r in self.reads])

    def orders(self):
        """All co, as lists of lists."""
        for each in itertools.product(*[
                itertools.permutations([w for w in self.writes
                                        if w.place == place and w.process >= 0])
                for place in sorted(self.test.places)]):
            if all(a.process != b.process or self.number[a] < self.number[b]
                   for order in each for a, b in itertools.combinations(order, 2)):
                yield each

    def holds(self, orders):
        """What is asked for, in the end."""
        def reg(process, name, value):
            if name not in self.runs[process].registers:
                return False
            return self.runs[process].registers[name][0] == Test.value(value)

        def mem(name, value):
            last = {order[-1].place: order[-1].value for order in orders if order}
            return last.get(name, self.test.init.get(name, 0)) == Test.value(value)
        return self.test.condition(reg, mem)

    def relate(self, pairs):
        rows = [0] * len(self.events)
        for a, b in pairs:
            rows[self.number[a]] |= 1 << self.number[b]
        return Relation(rows)

    def fenced(self, tag):
        return self.po @ self.tagged(tag) @ self.po

    def possible(self, sources, orders):
        """The axioms of linux-kernel.cat."""
        po, internal = self.po, self.int
        rf = self.relate(zip(sources, self.reads))
        inits = {w.place: w for w in self.writes if w.process < 0}
        co = self.relate(pair for order in orders if order for pair in
                         itertools.combinations((inits[order[0].place], *order), 2))
        fr = rf.inverse() @ co
        rfe, rfi = rf - internal, rf & internal
        fre, coe = fr - internal, co - internal

        com = rf | co | fr
        if not ((po & self.loc) | com).acyclic():		# coherence
            return False
        if not (self.rmw & (fre @ coe)).empty():		# atomic
            return False

        all_m = self.these(lambda x: x.kind != 'F')
        all_r = self.these(lambda x: x.kind == 'R')
        all_w = self.these(lambda x: x.kind == 'W')
        returns = self.these(lambda x: x.kind == 'R' and 'noreturn' not in x.tags)
        lkr, lkw, unlock, in_rmw = map(self.tagged, ('LKR', 'LKW', 'UL', 'rmw'))

        acq_po = self.tagged('acquire') @ po @ all_m
        po_rel = all_m @ po @ self.tagged('release')
        po_unlock_lock_po = po @ unlock @ (po | rf) @ lkr @ po
        rmb = returns @ self.fenced('rmb') @ returns
        wmb = all_w @ self.fenced('wmb') @ all_w
        strong_fence = (
            all_m @ self.fenced('mb') @ all_m |
            all_m @ self.fenced('before-atomic') @ in_rmw @ po.maybe() @ all_m |
            all_m @ po.maybe() @ in_rmw @ self.fenced('after-atomic') @ all_m |
            all_m @ po.maybe() @ lkw @ self.fenced('after-spinlock') @ all_m)
        fence = strong_fence | po_rel | acq_po | wmb | rmb

        addr, dep = self.addr, self.addr | self.data
        overwrite = co | fr
        to_w = (dep | self.ctrl) @ all_w | (overwrite & internal)
        to_r = addr @ all_r | dep @ rfi
        ppo = to_r | to_w | fence | (po_unlock_lock_po & internal)

        a_cumul = rfe.maybe() @ (strong_fence | po_rel)
        rmw_sequence = (rf @ self.rmw).star()
        cumul_fence = (a_cumul | wmb | po_unlock_lock_po) @ rmw_sequence
        marked = all_m
        prop = marked @ (overwrite - internal).maybe() @ cumul_fence.star() @ \
            marked @ rfe.maybe() @ marked
        same = self.these(lambda x: True)
        hb = marked @ (ppo | rfe | ((prop - same) & internal)) @ marked
        if not hb.acyclic():					# happens-before
            return False
        pb = prop @ strong_fence @ hb.star() @ marked
        return pb.acyclic()					# propagation


def result_of(text):
    """'Never' or 'Sometimes', and how many executions were looked at."""
    test = Test(text)
    looked = possible = 0
    for runs in itertools.product(*all_runs(test)):
        candidate = Candidate(test, runs)
        for orders in candidate.orders():
            if not candidate.holds(orders):
                continue
            for sources in candidate.sources():
                looked += 1
                possible += candidate.possible(sources, orders)
    return 'Sometimes' if possible else 'Never', looked


def main(paths):
    for path in paths:
        with open(path, encoding='utf-8') as file:
            text = file.read()
        try:
            result, looked = result_of(text)
            print('%s: %s, of %d' % (path, result, looked))
        except Unsupported as error:
            print('%s: unsupported: %s' % (path, error))


if __name__ == '__main__':
    main(sys.argv[1:])
