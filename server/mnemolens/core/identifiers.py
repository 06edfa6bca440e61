"""What an identifier is, how it splits into words, and which words say nothing on their own.

Owns the character classes that linking and search agree on. Identifiers are ASCII on purpose: with Unicode
classes `函数resolve_redirects会` would be one token. Does not know any language's keywords or any symbol.
"""

import re
from functools import lru_cache

IDENTIFIER = r"[A-Za-z_$][A-Za-z0-9_$]*"
"""Regular expression of one identifier, without boundaries."""

LATIN_LETTERS = "\u00aa\u00b5\u00ba\u00c0-\u00d6\u00d8-\u00f6\u00f8-\u024f\u1e00-\u1eff"
"""Class body of non-ASCII Latin letters: beside them an ASCII run is part of a longer word (`naïve_load`)."""

COMBINING = "\u0300-\u036f"
"""Class body of accents that stand behind their letter, as text from a Mac often has them."""

_IDENTIFIER = re.compile(IDENTIFIER)
_LOWER = f"a-z{LATIN_LETTERS}"
_PARTS = re.compile(
    rf"[A-Z]+(?![{_LOWER}{COMBINING}])|[A-Z][{_LOWER}{COMBINING}]+|[{_LOWER}][{_LOWER}{COMBINING}]*|[0-9]+"
    rf"|[^\W\d_A-Za-z{LATIN_LETTERS}]+"
)


def _words(text: str) -> list[str]:
    return text.split()


# English words that are also usual names of functions, methods, classes and modules. Inflections and the
# prefixes re-, un-, pre-, … are derived (see `is_common_word`), so only roots stand here.
_COMMON_ROOTS = frozenset(
    _words("""
    able about above accept access account acquire across act action activate active actual adapt add
    address adjust admin advance after again age agent aggregate aid aim alarm alert alias align alive all
    allocate allow also alter always amend amount analyse analysis analyze anchor and animate annotate
    annotation another answer any anyone anything app append application apply approve archive are area
    arg argument around arrange array arrive article ask assemble assert assign assist assume async atom
    attach attack attempt attend attribute audio audit auth authenticate authorize auto available average
    avoid await awake away back backup bad bag balance band banner bar base baseline basic batch beat
    because become bed been before begin behave behind being below bench best bet better between beyond
    bias bid big bigger bill bin bind binding bit bits black blank block blue board body book boolean boot
    border both bottom bounce bound boundary box branch brand bread breadth break bridge brief bring broad
    broadcast broker browse bubble bucket budget buffer bug build builder bulk bundle burn burst bus
    business busy but button buy bypass byte cache calculate calendar call callback camera can cancel
    candidate cap capability capacity capture car card care carry case cast catalog catch category cause
    cell center central certain chain chance change channel chapter character charge chart chat check
    checkout child choice choose chunk circle claim clamp class classify clean cleanup clear click client
    clip clock clone close closure cloud cluster coalesce code collapse collect collection collide color
    column combine come command comment commit common compact company compare compile complete complex
    component compose compress compute concat concurrent condition config configuration configure confirm
    conflict connect connection consider consistent console constant constraint construct consume contact
    contain container content context continue contract control convert cookie copy core correct cost
    could count counter country couple course cover coverage crash crawl create credit cron cross crypt
    current cursor curve customer cut cycle daemon daily damage dark dash data database date datetime day
    deal debit debug decide decimal declare decline decode decorate decorator decrease decrypt deep
    default defer define degree delay delegate delete deliver delta demand demo deny depend deploy depth
    derive describe description deserialize design destroy detach detail detect develop device did die
    diff differ difference different dig digest digit dimension dir direct direction directory dirty
    disable discard discount discover dispatch display dispose distance distinct distribute divide doc
    dock document does domain done door dot double down download draft drag drain draw drift drive driver
    drop dry due dump duplicate duration during dynamic each ear early easy eat echo edge edit editor
    effect either element eliminate else email emit employ empty enable encode encounter encrypt end
    endpoint enforce engine enhance enqueue ensure enter entire entity entry enumerate env environment
    equal era erase err error escape estimate evaluate even event ever every everything evict exact
    examine example exceed except exception exchange exclude execute exist exit expand expect expire
    explain explicit explore export expose express extend extension extent external extra extract eye face
    fact factor factory fail failure fair fake fall false family far fast fault feature fee feed fetch few
    field figure file fill filter final find fine finish fire first fit fix fixed fixture flag flat
    flatten flexible flight flip float flow flush fly focus fold folder follow font for force fork form
    format formula forward found frame framework free freeze frequency fresh friend from front full fun
    function fuse future gain game gap gate gateway gather general generate generator generic get give
    global going good got grab grade graph great green grid ground group grow guard guess guest guide gun
    had half halt hand handle handler hang happen hard has hash have head header health heap heat heavy
    height help helper her here hey hidden hide high highlight him hint his history hit hold hook
    horizontal host hot hour house hover how html http human hundred ice icon idea identical identify
    identity idle ids ignore image immediate implement implicit import improve inc include income increase
    increment indent index indicate individual infer info inform information inherit init initial
    initialize inject inline inner input insert inside inspect install instance instead instruct integer
    integrate intend interface internal interpolate interpret interval into invalid invalidate inventory
    invert invite invoice invoke isolate issue item iterate iterator its itself job join journal judge
    jump just justify keep kernel key kick kid kill kind know lab label lag lambda language large last
    late later launch law lay layer layout lazy lead leaf learn least leave led left legacy length less
    let level library license lie life lift light like limit line linear link list listen listener literal
    little live load loader local locale locate location lock log logger logic login logout long look
    lookup loop lose loss lot low lower machine macro made mail main maintain major make man manage
    manager manual many map mark marker market mask mass master match material matrix max maximum may mean
    measure media median member memory men mention menu merge message met meta metadata method metric
    middle middleware might migrate migration mime min minimum minor minute mirror miss mix mock mod mode
    model modify module monitor month more most mount mouse move much multiple must mutate name namespace
    native navigate near need negative nest net network never new next nice nil node noise none nor normal
    normalize not note nothing notice notification notify now null num number obj object observe obtain
    occur odd off offer office offline offset often old once one online only open operate operation
    operator opinion optimize option order ordinary organize origin original other otherwise our out outer
    output outside over overlap override overview own owner pack package pad page paginate paint pair
    panel panic paper paragraph parallel param parameter parent parse parser part partial partition party
    pass passive password past paste patch path pattern pause pay payload payment peek peer pen pending
    people per percent perform period permission permit persist person phase phone phrase pick picture
    piece pin pipe pipeline pivot place plain plan plane platform play player please plot plug plugin plus
    point pointer policy poll pool pop port portion pos position positive possible post pot power practice
    preference prefix prepare present preserve press pretty prevent preview previous price primary prime
    print priority private probe problem procedure proceed process processor produce product profile
    program progress project promise promote prompt proof property propose protect protocol prove provide
    provider proxy prune pub public publish pull pulse purchase pure purge push put quality quantity query
    question queue quick quiet quit quite quota quote race raise ran random range rank rapid rate rather
    ratio raw reach react read reader ready real realize reason rebase receive recent recipe recognize
    reconcile record recover recovery recursive red redirect reduce ref reference refine reflect refresh
    refund refuse region register registry regular reject relate relation relative release relevant
    reliable remain remember remind remote remove render repair repeat replace replicate reply report
    repository represent request require reserve reset resize resolve resource respond response rest
    restart restore restrict result resume retain retry return reveal reverse revert review revise revoke
    rid right ring risk role roll rollback root rotate rough round route router routine row rule run
    runner runtime sad safe sale salt same sample sanitize sat save saw say scale scan scatter schedule
    schema scheme scope score scrape screen script scroll search season seat second secret section secure
    security see seed seek seem segment select self send sense sentence separate sequence serial serialize
    series serve server service session set setting settle setup several shade shadow shape shard share
    she shift ship shop short should show shuffle shut shutdown shy side sign signal signature signup
    silent similar simple simplify simulate since single sit site situation size skip sky sleep slice
    slide slot slow small smart smooth snap snapshot sniff snippet social socket soft solid solve some
    someone something son sort sound source space span spawn speak special specific specify speed spell
    spend spider spin split spread stable stack staff stage stale stamp stand standard star start startup
    state statement static station statistic status stay steal step stick still stop storage store story
    str straight strategy stream street strength stress strict string strip strong structure style sub
    subject submit subscribe subset substitute success such suffix suggest suite sum summarize summary
    super supply support sure surface survive suspend swap sweep switch symbol sync synchronize syntax
    system tab table tag tail take talk target task tax team tear technical tell template temporary tenant
    tend term terminal terminate test text than that the their them theme then theory there these they
    thing think this thread threshold throttle through throw tick ticket tie tier tight time timeline
    timeout timer timestamp tip title today together toggle token tool top topic total touch trace track
    trade traffic trail train transaction transfer transform transition translate transmit transport trap
    travel traverse treat tree trend trial trick trigger trim trip true truncate trust truth try tune
    tuple turn twice two type typical under undo unify union unique unit universal unknown unless until
    update upgrade upload upper url usage use user usual util utility vacuum valid validate validation
    value van variable variant various vary vector vendor verbose verify version vertical very via video
    view viewer virtual visible vision visit visitor visual voice void volume vote wait wake walk wall
    want war warm warn was watch watcher wave way weak weather web week weigh weight well were what wheel
    when where whether which while white who whole why wide widget width wild will win window wipe wire
    wish with within without word work worker workflow workspace world worry worth would wrap wrapper
    write writer wrong yank year yellow yes yesterday yet yield you your zero zone zoom
""")
)
_PREFIXES = (
    "re",
    "un",
    "pre",
    "de",
    "dis",
    "over",
    "under",
    "out",
    "up",
    "down",
    "mis",
    "non",
    "sub",
    "multi",
)
_SUFFIXES = (
    ("s", ""),
    ("es", ""),
    ("es", "e"),
    ("ies", "y"),
    ("ed", ""),
    ("ed", "e"),
    ("ied", "y"),
    ("ing", ""),
    ("ing", "e"),
    ("er", ""),
    ("er", "e"),
    ("ers", ""),
    ("ers", "e"),
    ("or", ""),
    ("or", "e"),
    ("ion", ""),
    ("ion", "e"),
    ("ions", ""),
    ("ions", "e"),
    ("ation", "e"),
    ("ations", "e"),
    ("ly", ""),
    ("ment", ""),
    ("ments", ""),
    ("able", ""),
    ("able", "e"),
    ("ness", ""),
    ("less", ""),
)


_TERMINAL = re.compile("\x1b(?:\\[[0-?]*[ -/]*[@-~]|\\][^\x07\x1b]{0,500}(?:\x07|\x1b\\\\)?)")


def without_colours(text: str) -> str:
    """The text with spaces for what a terminal is told in it, which is no part of any word.

    Output of programs that is stored as it came would say `31mcharge` where people read `charge` in red.
    """
    return _TERMINAL.sub(lambda found: " " * len(found[0]), text) if "\x1b" in text else text


def is_identifier(text: str) -> bool:
    """Whether the whole text is one ASCII identifier (`$` allowed, as in JavaScript)."""
    return _IDENTIFIER.fullmatch(text) is not None


def split_identifier(name: str) -> tuple[str, ...]:
    """The words of an identifier, lower-cased, in order.

    Splits at underscores, dots and other punctuation, at camelCase humps, after acronyms and around digits:
    `parseHTTPHeader_v2` gives `("parse", "http", "header", "v", "2")`.
    """
    return tuple(part.lower() for part in _PARTS.findall(name))


def split_spans(name: str) -> list[tuple[int, int]]:
    """(start, end) of each word of an identifier, in order: where `split_identifier` found them."""
    return [match.span() for match in _PARTS.finditer(name)]


@lru_cache(maxsize=65536)
def is_common_word(word: str) -> bool:
    """Whether a bare word is everyday or technical English, and so no sign that code of that name is meant.

    Case is ignored. Plurals, verb forms (`loading`, `stopped`) and the usual prefixes (`reload`, `unload`)
    of the listed roots count too. Words with an underscore, digit or inner capital are never common.
    """
    if (
        not word.isascii()
        or not word.isalpha()
        or not (word.islower() or word[1:].islower() or word.isupper())
    ):
        return False
    lower = word.lower()
    if _is_form_of_root(lower):
        return True
    return any(
        len(lower) - len(prefix) >= 3 and lower.startswith(prefix) and _is_form_of_root(lower[len(prefix) :])
        for prefix in _PREFIXES
    )


def _is_form_of_root(word: str) -> bool:
    if word in _COMMON_ROOTS:
        return True
    for suffix, ending in _SUFFIXES:
        if len(word) - len(suffix) < 2 or not word.endswith(suffix):
            continue
        stem = word[: len(word) - len(suffix)]
        if stem + ending in _COMMON_ROOTS:
            return True
        doubled = len(stem) > 3 and stem[-1] == stem[-2] and not ending
        if doubled and stem[:-1] in _COMMON_ROOTS:
            return True
    return False
