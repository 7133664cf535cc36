# SPDX-License-Identifier: GPL-2.0
"""What a model stands for in a function of C: the order of its statements.

skeleton() leaves of a function's text the statements that the model could be wrong
about: those with locks, barriers, atomic operations or *_ONCE(), with operations on
slots and bases, with a member or a function that the model names, with a call
of a function that it stands for as well; the conditions around them; and each jump. Local names are numbers, in the order in
which they are met, and the functions that the model stands for are theirs in its
list. So a new counter, another name or another place for a declaration change
nothing, and another order does.
"""
import re

TOKEN = re.compile(r'"(?:\\.|[^"\\])*"|\'(?:\\.|[^\'\\])+\'|\w+|->|\+\+|--|<<=|>>=|<<|>>|'
                   r'[-+*/%&|^=!<>]=|&&|\|\||\S')
ORDERED = re.compile(
    r'(?:(?:raw_)?(?:spin|read|write)|mutex|rcu|srcu|local_irq|local_bh|preempt|irq_work|wait_event|wake_up|'
    r'synchronize|smp|atomic|refcount|hrtimer|complete|twheel_(?:expiry|scheme|base)|READ|WRITE)_\w+|\w+_ONCE|'
    r'(?:\w+_)?(?:un)?lock(?:_\w+)?|barrier|(?:try_)?(?:cmp)?xchg\w*|cpu_relax|(?:test_and_)?(?:set|clear|change)_bit\w*|'
    r'llist_\w+|wake_up|rcu_\w+|schedule\w*|cond_resched\w*')
# They note what is so, and change nothing.
SILENT = re.compile(r'lockdep_|trace_|might_sleep|BUILD_BUG_ON')
JUMPS = ('return', 'break', 'continue', 'goto')
HEADS = ('if', 'while', 'for', 'switch')
WORDS = {'true', 'false', 'struct', 'enum', 'sizeof', 'bool', 'int', 'long', 'unsigned',
         'char', 'void', 'const', 'static', 'u8', 'u16', 'u32', 'u64', 's64', 'return'}


class Reader:
    """Statements of a function's text."""

    def __init__(self, text):
        self.tokens = TOKEN.findall(re.sub(r'^\s*#.*$', '', text, flags=re.M))
        self.at = 0

    def peek(self):
        return self.tokens[self.at] if self.at < len(self.tokens) else ''

    def take(self):
        self.at += 1
        return self.tokens[self.at - 1]

    def brackets(self):
        """All in a pair of brackets, the outer ones too."""
        depth, taken = 0, []
        while True:
            token = self.take()
            taken.append(token)
            depth += (token in '([{') - (token in ')]}')
            if not depth:
                return taken

    def statement(self):
        """kind, tokens of the head, statements inside, those of an else."""
        token = self.peek()
        if token == '{':
            return 'block', [], self.block(), []
        if token in HEADS:
            self.take()
            head = self.brackets()
            inside, other = [self.statement()], []
            if token == 'if' and self.peek() == 'else':
                self.take()
                other = [self.statement()]
            return token, head, inside, other
        if token == 'do':
            self.take()
            inside = [self.statement()]
            self.take()
            head = self.brackets()
            self.take()
            return 'do', head, inside, []
        if token in ('case', 'default'):
            head = []
            while self.peek() != ':':
                head.append(self.take())
            self.take()
            return 'case', head, [], []
        return self.simple()

    def simple(self):
        """An expression, a declaration or a loop that is a macro."""
        head, value = [], False
        while True:
            token = self.peek()
            if token == ';':
                self.take()
                return (head[0] if head and head[0] in JUMPS else 'simple'), head, [], []
            if token == '{' and not value:
                return 'loop', head, self.block(), []
            value = value or token in ('=', 'return', 'struct', 'enum')
            if token in '([{':
                head += self.brackets()
            else:
                head.append(self.take())

    def block(self):
        self.take()
        inside = []
        while self.peek() != '}':
            inside.append(self.statement())
        self.take()
        return inside


class Skeleton:
    """The statements of one function that count for one model."""

    def __init__(self, functions, names):
        self.functions = functions
        self.names = names
        self.local = {}

    def counts(self, tokens):
        for i, token in enumerate(tokens):
            before = tokens[i - 1] if i else ''
            called = tokens[i + 1:i + 2] == ['(']
            if before in ('->', '.'):
                if token in self.names and tokens[i - 2] != 'counters':
                    return True
            elif called and (token in self.functions or token in self.names or
                             ORDERED.fullmatch(token)):
                return True
        return False

    def words(self, tokens):
        """Each local name is a number, each function of the model its own."""
        said = []
        for i, token in enumerate(tokens):
            before = tokens[i - 1] if i else ''
            if token in self.functions:
                token = '@%d' % self.functions.index(token)
            elif re.match(r'[a-z_]', token) and before not in ('->', '.') and \
                    tokens[i + 1:i + 2] != ['('] and token not in WORDS and \
                    not token.startswith('twheel_'):
                token = '$%d' % self.local.setdefault(token, len(self.local))
            said.append(token)
        return ' '.join(said)

    def of(self, statements):
        """What is left of them, and whether more than jumps."""
        said, full = [], False
        for kind, head, inside, other in statements:
            if kind == 'case':
                said.append('case')
                continue
            if kind in ('simple', *JUMPS):
                counts = bool(head) and not SILENT.match(head[0]) and self.counts(head)
                full |= counts
                if counts or kind != 'simple':
                    said.append(self.words(head) if counts else kind)
                continue
            heads = self.counts(head)
            now, now_full = self.of(inside)
            then, then_full = self.of(other)
            if not (heads or now or then):
                continue
            full |= heads or now_full or then_full
            if kind == 'block':
                said += now
                continue
            shown = heads or now_full or then_full
            said += [kind + ' ' + (self.words(head) if shown else '') + ' {', *now, '}']
            if then:
                said += ['else {', *then, '}']
        return said, full


def skeleton(text, functions, names):
    """The lines of it, for the text of all definitions of a function or structure."""
    if re.match(r'struct \w+ {', text):
        fields = re.findall(r'[^;{}]+;', text[text.index('{') + 1:])
        return [' '.join(field.split()) for field in fields
                if names & set(re.findall(r'\w+', field))]
    lines = []
    for body in re.split(r'(?<=^\})', text, flags=re.M):
        if '{' in body:
            reader = Reader(body[body.index('{'):])
            lines += Skeleton(functions, names).of(reader.block())[0]
    return lines
