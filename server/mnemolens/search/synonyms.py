"""Words that programmers use for one another: who asks for `erase` may mean a note that says `delete`.

Owns the lists. They hold only words that stand for one another in many projects; what a project calls its own
things is not in them.
"""

from functools import cache
from typing import Final

from mnemolens.search.words import stem

_GROUPS: Final = """
remove delete drop erase discard purge
clear empty reset wipe
start begin launch boot startup
stop end finish halt terminate kill quit exit shutdown abort
close shut end
cancel abort interrupt
folder directory dir
send transmit emit post
receive get accept
error exception fail failure fault
raise throw
crash die abort
wrong bad invalid incorrect broken malformed
fix repair correct
slow delay lag latency
fast quick speed performance
wait block pause sleep
hang stuck freeze block deadlock
create make build generate produce
add append insert
change modify alter edit update
replace substitute swap override
show display print view render
hide conceal
read load fetch retrieve
write save store persist dump
keep retain preserve hold
find search lookup locate
check verify validate ensure
allow permit enable
forbid deny refuse reject disallow prohibit
disable off deactivate
enable on activate
need require must mandatory
choose select pick
copy duplicate clone
repeat again retry
same identical equal
limit maximum max cap
minimum min least
default fallback
old legacy deprecated obsolete
previous former earlier
order sequence sort
missing absent lack
none null nil
whole entire complete full
part piece chunk fragment
big large huge
small little tiny
connect attach link
disconnect detach
user account
login authenticate auth
password credential
permission access right
config configuration setting option preference
argument parameter arg param
function method routine
callback handler hook listener
field attribute property member
thread concurrent parallel simultaneous
process task job
host machine node server
peer client
url address link
path file
response answer reply
message packet
text string
place location position
name title label identifier
count number amount quantity
date time timestamp
timeout expire expiration
memory ram
image picture photo
list array collection
dict map mapping dictionary
convert transform translate cast
encode encoding charset
serialize serialise pickle marshal
deserialize deserialise unpickle
split separate divide
join merge combine concatenate
compress zip
run execute invoke call
deploy release publish rollout
mock fake stub dummy
nested inner child
parent outer owner
inherit subclass derive
private internal
public external
safe secure
dangerous unsafe risk
warn warning caution
schedule cron periodic
event signal notification
filter exclude skip ignore omit
compare diff difference
happen occur
database db
row record
environment env
shell terminal console
browser client
email mail
undo revert rollback
unique distinct
temporary temp tmp
"""
"""A line is a group, and a word may be in several."""


def synonyms(term: str) -> tuple[str, ...]:
    """The terms that may be meant by a term, in a fixed order."""
    return _by_term().get(term, ())


@cache
def _by_term() -> dict[str, tuple[str, ...]]:
    others: dict[str, dict[str, None]] = {}
    for line in _GROUPS.split("\n"):
        group = [stem(word) for word in line.split()]
        for term in group:
            others.setdefault(term, {}).update(dict.fromkeys(group))
    return {term: tuple(other for other in those if other != term) for term, those in others.items()}
