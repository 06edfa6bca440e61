"""What secrets look like: one `Rule` a kind, and what only looks like one.

Three families: tokens with a shape that their maker documents (a prefix, an alphabet, a length); headers,
addresses and blocks whose form says that a secret stands in them; and values given to a name such as
`password`, which must look chosen or made at random. Nothing is a secret by its randomness alone: hashes,
UUIDs and digests stand in every memory about code.

Every pattern is tried only where a literal stands, and repeats within bounds: text is read in linear time.
Owns no wording and knows no memories (`engine.secrets`).
"""

import base64
import binascii
import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

Check = Callable[[re.Match[str]], bool]


@dataclass(frozen=True)
class Rule:
    """How one kind of secret is found.

    Attributes:
        kind: what a person calls it.
        literals: lower-case texts; the pattern is tried where one stands, in any case, and nowhere else.
        source: the pattern; one of its groups `VALUE_GROUPS` is the span to report.
        check: says no to what only looks like one.
        back: how many characters before the literal the pattern may begin.
    """

    kind: str
    literals: tuple[str, ...]
    source: str
    check: Check
    back: int = 0

    @cached_property
    def pattern(self) -> re.Pattern[str]:
        """The pattern, compiled when a literal is first seen: all at once take a tenth of a second."""
        return re.compile(self.source)


VALUE_GROUPS = (
    "secret",
    "double",
    "single",
    "tick",
    "bare",
    "called_double",
    "called_single",
    "called_tick",
)


def value_group(match: re.Match[str]) -> str:
    """The name of the group that holds the secret."""
    return next(g for g in VALUE_GROUPS if g in match.re.groupindex and match[g] is not None)


# What only looks like a secret ----------------------------------------------------------------------------

_STAND_IN = re.compile(
    r"your|placeholder|change[_-]?me|replace|redacted|removed|masked|hidden|insert|dummy|sample|example|fake"
    r"|mock|not[_-]?(?:a[_-]?)?(?:real|secret)|goes[_-]?here|[_-]here\b|to[_-]?be[_-]?|todo|some[_-]|lorem"
    r"|my[_-]?(?:secret|pass|token|api|key)|xxx|\*\*\*|\.\.\.|\u2026|\u2022\u2022|###|___|---"
    r"|^(?:test|foo|bar|baz|demo|default|none|null|nil|undefined|false|true|string|n/a)[\W\d_]*$",
    re.IGNORECASE,
)
_REFERENCE = re.compile(
    r"[<>]|\$\{|\{\{|\}\}|\$\(|%\(|#\{|<%|^\$[A-Za-z_]|\{[A-Za-z_][\w.\[\]]{0,60}\}|^%\w+%$|^%[drsv]$|^@|^!|^&"
    r"|\bprocess\.env\b|\bos\.environ|\bgetenv\b|\bimport\.meta\b"
    r"|^(?:env|vault|op|ssm|secretref|sops|arn|kms)[:.]|^ENC[\[(]|^\{cipher\}"
)
_PLACE = re.compile(
    r"^[~.]{0,2}/|://|^[A-Za-z]:\\|\.(?:pem|key|crt|json|ya?ml|txt|env|toml|ini|py|[jt]sx?|md)$"
)
_HASHED = re.compile(
    r"^\{?(?:\$(?:2[abxy]|argon2\w*|pbkdf2\w*|scrypt|[156y]|apr1)\$|(?:s?sha|md)\d*[-:$}]|pbkdf2_)"
)
_TERMS = re.compile(
    r"u?int\d+|float\d+|sha-?\d+|md[45]|base\d+|utf-?\d+|oauth-?\d|argon2\w{0,2}|pbkdf2|x509"
    r"|[rheps]s(?:256|384|512)|ed25519|x25519|rsa-?\d*|aes-?\d*|ec2|s3|http[123]|ipv[46]|k8s|i18n|auth0"
    r"|p(?:256|384|521)|win(?:32|64)|py(?:thon)?[23]|\bv\d+|\bes\d|\bb64\b|web3|log4j|neo4j|d3",
    re.IGNORECASE,
)
_NAME_PIECE = re.compile(r"[0-9]?[A-Za-z]{0,24}[0-9]{0,3}|[0-9]{1,4}")
_SEPARATORS = re.compile(r"[-_./:|\\ +]")
_UUID = re.compile(r"[0-9A-Fa-f]{8}(?:-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}")
_DOTTED = re.compile(r"[A-Za-z_$][\w$]*(?:(?:\??\.|::|->)[A-Za-z_$][\w$]*)+")
_IDENTIFIER = re.compile(r"[A-Za-z_$][\w$]*")
_FILLER_RUN = re.compile(r"([xX*.01#])\1{4,}")
_TOKEN_STAND_IN = re.compile(
    r"your|placeholder|change_?me|redacted|replace|(?:token|key|string|secret)[_-]?here", re.IGNORECASE
)


def is_stand_in(value: str) -> bool:
    """Whether a value stands for a secret that is elsewhere: a placeholder, a reference, a path, a hash."""
    return any(p.search(value) for p in (_STAND_IN, _REFERENCE, _PLACE, _HASHED))


def _is_varied(body: str) -> bool:
    """Whether a token's body can be a real one: neither filler nor a placeholder in words."""
    return len(set(body)) >= 4 and not _FILLER_RUN.search(body) and not _TOKEN_STAND_IN.search(body)


def _has_letter_and_digit(value: str) -> bool:
    return any(c.isdigit() for c in value) and any(c.isalpha() for c in value)


def _is_names(value: str) -> bool:
    """Whether the value is words and small numbers, joined as names are."""
    return all(_NAME_PIECE.fullmatch(piece) for piece in _SEPARATORS.split(value))


def _jumps_case(value: str) -> bool:
    """Whether letters change case as no name does: of random letters half do."""
    changes = sum(a.islower() != b.islower() for a, b in pairwise(value))
    return len(value) >= 16 and changes * 5 >= len(value) * 2


def looks_made(value: str) -> bool:
    """Whether the value looks made by a machine: letters and digits mixed as no name mixes them."""
    if len(value) < 10 or len(set(value)) < 6 or is_stand_in(value) or any(c.isspace() for c in value):
        return False
    if _FILLER_RUN.search(value):
        return False
    plain = _TERMS.sub("x", value)
    return _jumps_case(plain) or (_has_letter_and_digit(plain) and not _is_names(plain))


def looks_chosen(value: str) -> bool:
    """Whether the value looks like a password: a word with digits or marks in it, or made by a machine."""
    if len(value) < 6 or len(set(value)) < 4 or is_stand_in(value) or any(c.isspace() for c in value):
        return False
    plain = _TERMS.sub("x", value)
    if _has_letter_and_digit(plain):
        return not (_is_names(plain) and _SEPARATORS.search(plain))
    marks = any(not c.isalnum() and not _SEPARATORS.match(c) for c in plain)
    return _jumps_case(plain) or (marks and any(c.isalpha() for c in plain))


# Tokens with a documented shape ---------------------------------------------------------------------------


def _varied(match: re.Match[str]) -> bool:
    return _is_varied(match["secret"])


def _numbered(match: re.Match[str]) -> bool:
    return _is_varied(match["secret"]) and any(c.isdigit() for c in match["secret"])


def _mixed(match: re.Match[str]) -> bool:
    return _numbered(match) or (_varied(match) and _jumps_case(match["secret"]))


def _is_aws_secret(match: re.Match[str]) -> bool:
    value = match["secret"]
    return _is_varied(value) and value.upper() != value and value.lower() != value


def _token(kind: str, literals: str, shape: str, check: Check = _varied, back: int = 0) -> Rule:
    """A rule for a token of this shape that stands alone; `literals` are separated by spaces."""
    source = rf"(?<![A-Za-z0-9])(?P<secret>{shape})(?![A-Za-z0-9])"
    return Rule(kind, tuple(literals.split()), source, check, back)


_GITLAB = "glpat- glptt- gldt- glrt- glrtr- glcbt- glft- glsoat- glagent- gloas- glimt- glffct- glwt-"
_STRIPE = "sk_live_ sk_test_ sk_prod_ rk_live_ rk_test_ rk_prod_"
_SLACK_HOOK = r"hooks\.slack\.com/(?:services|workflows|triggers)/[A-Za-z0-9+/]{20,120}"
_DISCORD = "discord.com/api/webhooks discordapp.com/api/webhooks"
_DISCORD_HOOK = r"discord(?:app)?\.com/api/webhooks/[0-9]{15,22}/[A-Za-z0-9_-]{50,90}"
_ONEPASSWORD = r"A3-[A-Z0-9]{6}-(?:[A-Z0-9]{11}|[A-Z0-9]{6}-[A-Z0-9]{5})(?:-[A-Z0-9]{5}){3}"
_FLY = r"(?:fm1[ar]|fm2)_[A-Za-z0-9+/]{80,2000}={0,3}|fo1_[A-Za-z0-9_-]{43}"
_SIGNED = r"eyJ[A-Za-z0-9_-]{4,8000}\.[A-Za-z0-9_-]{16,1000}"
_ENCRYPTED = r"[A-Za-z0-9_-]{0,1000}\.[A-Za-z0-9_-]{12,40}\.[A-Za-z0-9_-]{4,8000}\.[A-Za-z0-9_-]{16,40}"
_AWS_PAIR = (
    r"(?i:secret[_ -]?(?:access[_ -]?)?key)[\"'`]?\s{0,4}(?:=>|[:=]|is\b)?\s{0,4}[\"'`]?"
    r"(?P<secret>[A-Za-z0-9/+]{40})(?![A-Za-z0-9/+=])"
)
_AZURE_CLIENT = r"(?<![\w~.,/@-])(?P<secret>[A-Za-z0-9_~.-]{3}[0-9]Q~[A-Za-z0-9_~.-]{31,34})(?![\w~.-])"
_AZURE_STORAGE = r"(?i:AccountKey|SharedAccessKey)\s{0,2}=\s{0,2}(?P<secret>[A-Za-z0-9+/]{40,100}={0,2})"

_TOKENS = (
    _token("AWS access key", "akia asia abia acca a3t", r"(?:AKIA|ASIA|ABIA|ACCA|A3T[A-Z0-9])[A-Z0-9]{16}"),
    Rule("AWS secret key", ("secret",), _AWS_PAIR, _is_aws_secret),
    _token("AWS Bedrock key", "absk", r"ABSK[A-Za-z0-9+/]{100,300}={0,2}"),
    _token("GitHub token", "ghp_ gho_ ghu_ ghs_ ghr_", r"gh[pousr]_[A-Za-z0-9]{36,255}"),
    _token("GitHub token", "github_pat_", r"github_pat_[A-Za-z0-9_]{22,255}"),
    _token("GitLab token", _GITLAB, r"gl[a-z]{2,5}-[A-Za-z0-9_-]{20,300}(?:\.[a-z0-9.]{2,40})?", _numbered),
    _token("GitLab token", "gr1348941", r"GR1348941[A-Za-z0-9_-]{20}"),
    _token("Slack token", "xox", r"xox[abeprsc](?:\.xox[bp])?-[A-Za-z0-9-]{16,250}", _numbered),
    _token("Slack token", "xapp-", r"xapp-[0-9]-[A-Za-z0-9]{5,30}-[0-9]{5,20}-[A-Za-z0-9]{20,100}"),
    _token("Slack webhook", "hooks.slack.com", _SLACK_HOOK, _numbered),
    _token("Discord webhook", _DISCORD, _DISCORD_HOOK),
    _token("Teams webhook", "webhook.office.com", r"webhook\.office\.com/webhookb2/[A-Za-z0-9@/-]{80,250}"),
    _token("Stripe key", _STRIPE, r"[sr]k_(?:live|test|prod)_[A-Za-z0-9]{10,250}"),
    _token("Stripe webhook secret", "whsec_", r"whsec_[A-Za-z0-9+/]{24,100}={0,2}"),
    _token("Anthropic key", "sk-ant-", r"sk-ant-[A-Za-z0-9]{2,12}-[A-Za-z0-9_-]{20,200}", _numbered),
    _token("OpenRouter key", "sk-or-", r"sk-or-(?:v[0-9]-)?[0-9a-f]{32,80}"),
    _token("OpenAI key", "sk-", r"sk-(?:proj|svcacct|admin|None)-[A-Za-z0-9_-]{20,250}", _numbered),
    _token("OpenAI key", "sk-", r"sk-[A-Za-z0-9]{20,120}", _numbered),
    _token("Google API key", "aiza", r"AIza[A-Za-z0-9_-]{35}"),
    _token("Google client secret", "gocspx-", r"GOCSPX-[A-Za-z0-9_-]{24,40}"),
    _token("Google access token", "ya29.", r"ya29\.[A-Za-z0-9_-]{20,400}"),
    _token("Google refresh token", "1//0", r"1//0[A-Za-z0-9_-]{40,200}"),
    _token("Facebook token", "eaac eaam", r"EAA[CM][A-Za-z0-9]{80,400}"),
    _token("npm token", "npm_", r"npm_[A-Za-z0-9]{36}"),
    _token("PyPI token", "pypi-", r"pypi-Ag[A-Za-z0-9_-]{40,400}"),
    _token("RubyGems key", "rubygems_", r"rubygems_[0-9a-f]{48}"),
    _token("crates.io token", "cio", r"cio[A-Za-z0-9]{32}", _numbered),
    _token("NuGet key", "oy2", r"oy2[a-z0-9]{43}"),
    _token("Docker token", "dckr_", r"dckr_(?:pat|oat)_[A-Za-z0-9_-]{20,60}"),
    _token("Hugging Face token", "hf_ api_org_", r"(?:hf|api_org)_[A-Za-z0-9]{30,60}", _mixed),
    _token("1Password token", "ops_eyj", r"ops_eyJ[A-Za-z0-9+/]{100,2000}={0,3}"),
    _token("1Password secret key", "a3-", _ONEPASSWORD),
    _token("SendGrid key", "sg.", r"SG\.[A-Za-z0-9_-]{16,32}\.[A-Za-z0-9_-]{32,64}"),
    _token("Mailgun key", "key-", r"key-[0-9a-f]{32}"),
    _token("Mailchimp key", "-us", r"[0-9a-f]{32}-us[0-9]{1,2}", back=32),
    _token("Twilio key", "sk", r"SK[0-9a-f]{32}"),
    _token("DigitalOcean token", "doo_v1_ dop_v1_ dor_v1_", r"do[opr]_v1_[0-9a-f]{64}"),
    _token("Shopify token", "shpat_ shpca_ shppa_ shpss_", r"shp(?:at|ca|pa|ss)_[0-9A-Fa-f]{32}"),
    _token("Square token", "sq0", r"sq0[a-z]{3}-[A-Za-z0-9_-]{22,43}"),
    _token("Vault token", "hvs. hvb. hvr.", r"hv[sbr]\.[A-Za-z0-9_-]{20,300}"),
    _token("Terraform token", ".atlasv1.", r"[A-Za-z0-9]{14}\.atlasv1\.[A-Za-z0-9_=-]{60,70}", back=14),
    _token("Databricks token", "dapi", r"dapi[0-9a-f]{32}(?:-[0-9])?"),
    _token("Atlassian token", "atatt3 atctt3", r"AT[AC]TT3[A-Za-z0-9_=-]{60,300}"),
    _token("Cloudflare key", "v1.0-", r"v1\.0-[0-9a-f]{24}-[0-9a-f]{146}"),
    _token("Fly.io token", "fm1 fm2_ fo1_", _FLY),
    _token("Sourcegraph token", "sgp_", r"sgp_(?:(?:local|[A-Fa-f0-9]{16})_)?[A-Fa-f0-9]{40}"),
    _token("Sonar token", "sqp_ squ_ sqa_", r"sq[pua]_[0-9a-f]{40}"),
    _token("Octopus Deploy key", "api-", r"API-[A-Z0-9]{26}", _numbered),
    _token("Linear key", "lin_", r"lin_(?:api|oauth)_[A-Za-z0-9]{32,64}"),
    _token("Notion token", "ntn_", r"ntn_[A-Za-z0-9]{40,50}", _numbered),
    _token("Notion token", "secret_", r"secret_[A-Za-z0-9]{43}", _numbered),
    _token("Grafana token", "glsa_", r"glsa_[A-Za-z0-9]{32}_[0-9a-f]{8}"),
    _token("Grafana token", "glc_", r"glc_[A-Za-z0-9+/]{32,400}={0,2}"),
    _token("Sentry token", "sntrys_ sntryu_", r"sntry[su]_[A-Za-z0-9+/=_-]{40,300}"),
    _token("New Relic key", "nrak- nrii- nral-", r"NR(?:AK|II|AL)-[A-Za-z0-9]{24,40}"),
    _token("Postman key", "pmak-", r"PMAK-[0-9a-f]{24}-[0-9a-f]{34}"),
    _token("Heroku key", "hrku-", r"HRKU-[A-Za-z0-9_-]{30,80}"),
    _token("Supabase key", "sbp_ sb_secret_", r"(?:sbp_[0-9a-f]{40}|sb_secret_[A-Za-z0-9_-]{20,60})"),
    _token("Groq key", "gsk_", r"gsk_[A-Za-z0-9]{40,60}"),
    _token("xAI key", "xai-", r"xai-[A-Za-z0-9]{60,100}"),
    _token("Perplexity key", "pplx-", r"pplx-[A-Za-z0-9]{40,60}"),
    _token("Replicate token", "r8_", r"r8_[A-Za-z0-9]{37,40}"),
    _token("Doppler token", "dp.", r"dp\.(?:pt|st|ct|sa|scim|audit)\.[A-Za-z0-9._-]{40,60}", _numbered),
    _token("PlanetScale token", "pscale_", r"pscale_(?:tkn|pw|oauth)_[A-Za-z0-9_=.-]{30,70}"),
    _token("Pulumi token", "pul-", r"pul-[0-9a-f]{40}"),
    _token("Telegram bot token", ":aa", r"[0-9]{8,10}:AA[A-Za-z0-9_-]{33}", back=10),
    Rule("Azure client secret", ("q~",), _AZURE_CLIENT, _varied, back=4),
    Rule("Azure storage key", ("accountkey", "sharedaccesskey"), _AZURE_STORAGE, _varied),
    _token("age key", "age-secret-key-", r"AGE-SECRET-KEY-1[0-9A-Z]{58}"),
    _token("JSON web token", "eyj", rf"eyJ[A-Za-z0-9_-]{{8,4000}}\.(?:{_SIGNED}|{_ENCRYPTED})"),
)


# Headers and addresses ------------------------------------------------------------------------------------

_GENERIC_USERS = frozenset(
    {"", "user", "username", "usr", "name", "login", "me", "foo", "u", "dbuser", "db_user", "myuser"}
)
_GENERIC_PASSWORDS = frozenset(
    {"pass", "password", "passwd", "pwd", "pw", "secret", "token", "p", "bar", "dbpass"}
)
_LOCAL_HOSTS = re.compile(
    r"^(?:localhost|127\.0\.0\.1|0\.0\.0\.0|db|postgres|mysql|mongo|redis|host|hostname|server|\[?::1\]?)?$"
    r"|(?:^|\.)(?:example|test|invalid|localhost)(?:\.(?:com|org|net))?$",
    re.IGNORECASE,
)
_DATABASE = re.compile(
    r"(?:postgres(?:ql)?|mysql|mariadb|mongodb|rediss?|valkey|amqps?|mssql|sqlserver|oracle|clickhouse"
    r"|cockroachdb|kafka|nats|ldaps?|cassandra|couchbase|neo4j|bolt|influxdb|memcached|snowflake|redshift|db2"
    r"|jdbc:[a-z0-9:]{1,30})(?:\+[a-z0-9]{1,20})?$",
    re.IGNORECASE,
)
_ADDRESS = (
    r"://(?P<user>[^\s:/?#@\"'<>`\[]{0,128}):(?P<secret>[^\s/\"'<>`]{1,256})"
    r"@(?P<host>[^\s/:?#@\"'<>`,)]{0,255})"
)
_BEARER = r"(?i:\bbearer)[\s:=\"'`]{1,4}(?P<secret>[A-Za-z0-9._~+/-]{12,2000}={0,2})"
_AUTHORIZATION = (
    r"(?i:authorization)[\"'`]?\s{0,4}[:=,]\s{0,4}[\"'`]?"
    r"(?:(?i:token|api-?token|api-?key|key|digest|negotiate)\s{1,4})?"
    r"(?P<secret>[A-Za-z0-9._~+/-]{12,2000}={0,2})"
)
_BASIC = r"(?i:\bbasic)\s{1,4}(?P<secret>[A-Za-z0-9+/]{8,1000}={0,2})"
_USER_FLAG = (
    r"(?<=\s)(?:-u|--user|--auth)[ =]{1,3}[\"']?(?P<user>[^\s:\"']{1,100}):(?P<secret>[^\s\"'\[\]]{3,200})"
)


def _is_credential(user: str, password: str, host: str) -> bool:
    """Whether `user:password@host` gives a password away, rather than showing where one would stand."""
    if _REFERENCE.search(password) or _STAND_IN.search(password) or set(password) <= set("*.xXyY"):
        return False
    generic = password.lower() in _GENERIC_PASSWORDS or password.lower() == user.lower()
    return not (generic and (user.lower() in _GENERIC_USERS or _LOCAL_HOSTS.search(host)))


def _in_address(match: re.Match[str]) -> bool:
    return _is_credential(match["user"], match["secret"], match["host"])


def _in_database_address(match: re.Match[str]) -> bool:
    before = match.string[max(0, match.start() - 40) : match.start()]
    return _DATABASE.search(before) is not None and _in_address(match)


def _in_command(match: re.Match[str]) -> bool:
    before = match.string[max(0, match.start() - 300) : match.start()]
    called = any(program in before for program in ("curl", "wget", "http"))
    return called and _is_credential(match["user"], match["secret"], "")


def _is_basic(match: re.Match[str]) -> bool:
    value = match["secret"]
    try:
        decoded = base64.b64decode(value + "=" * (-len(value) % 4), validate=True).decode()
    except (binascii.Error, ValueError):
        return False
    user, colon, password = decoded.partition(":")
    return bool(colon and decoded.isprintable()) and _is_credential(user, password, "")


def _is_bearer(match: re.Match[str]) -> bool:
    return looks_made(match["secret"]) and _is_varied(match["secret"])


_HEADERS = (
    Rule("connection string with a password", ("://",), _ADDRESS, _in_database_address),
    Rule("address with a password", ("://",), _ADDRESS, _in_address),
    Rule("bearer token", ("bearer",), _BEARER, _is_bearer),
    Rule("authorization header", ("authorization",), _AUTHORIZATION, _is_bearer),
    Rule("authorization header", ("basic",), _BASIC, _is_basic),
    Rule("password", ("-u", "--user", "--auth"), _USER_FLAG, _in_command),
)


# Values given to a name -----------------------------------------------------------------------------------

_NAME = (
    r"(?P<name>(?i:pass(?:word|wd|phrase|code)?|pwd|secret|token|key|credentials?)"
    r"(?i:[_-]?(?:access[_-]?)?(?:key|base64|b64|hex|value|string))?[0-9]{0,2})"
)
_NAME_END = re.compile(rf"{_NAME}$")
_KINDS = {
    "password": ("pass", "pwd"),
    "secret": ("secret", "credential"),
    "token": ("token",),
    "key": ("key",),
}
_FLAGS = {
    "password": ("--pass",),
    "secret": ("--secret",),
    "token": ("--token", "--access-token"),
    "key": ("--api-key",),
}
_CHOSEN = re.compile(r"pass|pwd|secret", re.IGNORECASE)
_KEY_OWNER = re.compile(
    r"(?:api|access|account|auth|client|encryption|license|master|private|service|session|shared|signing)"
    r"[_. -]?$",
    re.IGNORECASE,
)
_TOKEN_OWNER = re.compile(r"(?:api|auth|access|refresh|bearer|session|id|bot|deploy)$", re.IGNORECASE)
_WORDS_OF_THEIR_OWN = ("passw", "passphrase", "passcode", "secret", "credential")
_TYPE = r"(?::\s{0,2}[A-Za-z_][\w.\[\]|?<>]{0,40}\s{0,4})?"
_QUOTES = (
    r"[bBrRuU@]{0,2}"
    r"(?:\"(?P<double>[^\"\n]{4,300})\"|'(?P<single>[^'\n]{4,300})'|`(?P<tick>[^`\n]{4,300})`)"
)
_BARE = r"(?P<bare>(?:[^\s\"'`,;(){}\[\]<>|&]|&(?![\w-]{1,40}=)){6,300}+)(?![(\[])"
_ASSIGNMENT = (
    rf"{_NAME}(?![A-Za-z])[\"'`\]]{{0,2}}(?P<space>\s{{0,8}}){_TYPE}"
    rf"(?:(?:(?P<sign>=>|:=|={{1,3}}|:)\s{{0,8}}|(?<=\s)(?:is|was)\s{{1,4}}(?:now\s)?)(?:{_QUOTES}|{_BARE})"
    rf"|\(\s{{0,8}}{_QUOTES.replace('P<', 'P<called_')})"
)
_FLAG = rf"--(?:api-|access-)?{_NAME}(?P<space>\s{{1,4}})(?P<sign>)(?:{_QUOTES}|{_BARE})"
_CONNECTION = r"(?i:\b(?:password|pwd))\s{0,2}=\s{0,2}(?P<secret>[^;\s\"'`,)]{3,128})"
_CONNECTION_PART = re.compile(
    r"\b(?:server|data source|host|user id|uid|user|username|addr|dsn)\s{0,2}=", re.IGNORECASE
)


def named_secret(name: str, value: str) -> str | None:
    """The kind of secret that a value is under a name such as `dbPassword` or `api_key`; None for none."""
    end = _NAME_END.search(name[-100:])
    if end is None:
        return None
    before, word = name[-100:][: end.start()], end["name"]
    if not _is_name_of_secret(before, word) or not _is_secret_value(before + word, value):
        return None
    return next(kind for kind, words in _KINDS.items() if word.lower().startswith(words))


def _is_name_of_secret(before: str, name: str) -> bool:
    """Whether a name that ends in `name`, with `before` right before that, is one of a secret."""
    lower = name.lower()
    inside = before[-1:].isalpha() and not (before[-1:].islower() and name[:1].isupper())
    if lower.startswith("key"):
        return _KEY_OWNER.search(before) is not None
    if lower.startswith("token"):
        return not inside or _TOKEN_OWNER.search(before) is not None
    return not inside or lower.startswith(_WORDS_OF_THEIR_OWN)


def _is_secret_value(name: str, value: str) -> bool:
    chosen = _CHOSEN.search(name) is not None
    if _UUID.fullmatch(value):
        return chosen or name.lower().endswith(("key", "_authtoken"))  # npm's older tokens are UUIDs
    return looks_chosen(value) if chosen else looks_made(value)


def _is_assigned(match: re.Match[str]) -> bool:
    """Whether the value given to the name looks like the secret itself."""
    before = match.string[max(0, match.start() - 14) : match.start()]
    if not _is_name_of_secret(before, match["name"]) or before.endswith("badge.svg?"):
        return False
    value = match[value_group(match)]
    if match["bare"] is not None:
        if is_stand_in(value):
            return False
        value = re.sub(r"[.:!?]$", "", value)
        spaced = match["sign"] == "=" and match["space"] != ""
        if (_DOTTED.fullmatch(value) or (spaced and _IDENTIFIER.fullmatch(value))) and not _is_dense(value):
            return False  # code: another name
    return _is_secret_value(before + match["name"], value)


def _is_dense(value: str) -> bool:
    """Whether letters and digits alternate too often for a name."""
    pieces = re.split(r"\W", value)
    return any(len(piece) >= 12 and len(re.findall(r"[A-Za-z]+|[0-9]+", piece)) >= 4 for piece in pieces)


def _in_connection_string(match: re.Match[str]) -> bool:
    before = re.split(r"[\"'`\n]", match.string[max(0, match.start() - 300) : match.start()])[-1]
    if not _CONNECTION_PART.search(before) or _in_call(before) or is_stand_in(match["secret"]):
        return False
    return match["secret"].lower() not in _GENERIC_PASSWORDS


def _in_call(before: str) -> bool:
    """Whether what stands before is arguments of a call rather than parts of a connection string."""
    return "(" in before or "{" in before or ("," in before and ";" not in before)


_ASSIGNMENTS = (
    Rule("connection string with a password", ("password", "pwd"), _CONNECTION, _in_connection_string),
    *(Rule(kind, words, _ASSIGNMENT, _is_assigned) for kind, words in _KINDS.items()),
    *(Rule(kind, flags, _FLAG, _is_assigned) for kind, flags in _FLAGS.items()),
)

RULES: tuple[Rule, ...] = (*_TOKENS, *_HEADERS, *_ASSIGNMENTS)
"""The most telling first: where two find the same place, the earlier one names it."""


# Private keys ---------------------------------------------------------------------------------------------

_KEY_HEADER = re.compile(
    r"-----BEGIN (?:[A-Z0-9]{1,20} ){0,3}PRIVATE KEY(?: BLOCK)?-----"
    r"|---- BEGIN SSH2 ENCRYPTED PRIVATE KEY ----"
)
_PUTTY_HEADER = re.compile(r"(?i:Private-Lines): ?[0-9]{1,4}")
_KEY_BODY = re.compile(r"[A-Za-z0-9+/]{8,}")
_KEY_LINES = re.compile(
    r"(?:[ \t\"'+]{0,16}(?:\\r|\\n|\r|\n|^){1,8}[ \t>|#*/-]{0,16}[A-Za-z0-9+/=]{4,128}+(?![-:.])){1,500}"
)
_MAX_KEY = 20_000


def key_blocks(text: str) -> list[tuple[int, int]]:
    """Where private keys stand, from header to footer; a header without a body is none. Code points."""
    found: list[tuple[int, int]] = []
    if "PRIVATE KEY" in text:
        headers = list(_KEY_HEADER.finditer(text))
        for at, header in enumerate(headers):
            following = headers[at + 1].start() if at + 1 < len(headers) else len(text)
            end = _end_of_key(text, header.end(), min(header.end() + _MAX_KEY, following))
            if end:
                found.append((header.start(), end))
    if "rivate-Lines" in text:
        for header in _PUTTY_HEADER.finditer(text):
            lines = _KEY_LINES.match(text, header.end())
            if lines and _is_key_body(lines.group()):
                found.append((header.start(), lines.end()))
    return found


def _end_of_key(text: str, start: int, limit: int) -> int:
    """Where the key whose header ends at `start` ends, 0 where there is none."""
    footer = text.find("---- END" if text[start - 5] == " " else "-----END", start, limit)
    if footer >= 0:
        if not (_is_key_body(text[start:footer]) or _is_short_body(text[start:footer])):
            return 0
        line_end = text.find("\n", footer, limit)
        closing = text.find("----", footer + 8, line_end if line_end >= 0 else limit)
        if closing < 0:
            return footer
        return closing + (5 if text.startswith("-----", closing) else 4)
    first = _KEY_BODY.search(text, start, min(limit, start + 400))
    if first is None or not _is_key_body(first.group()):
        return 0
    more = _KEY_LINES.match(text, first.end(), limit)
    return more.end() if more else first.end()


def _is_short_body(body: str) -> bool:
    """Whether something stands between header and footer that is neither words nor a stand-in."""
    lines = [line for line in re.split(r"\\n|\\r|\s*[\r\n]\s*", body.strip()) if line]
    return (
        bool(lines) and not is_stand_in(body) and all(re.fullmatch(r"[A-Za-z0-9+/=]{3,}", x) for x in lines)
    )


def _is_key_body(body: str) -> bool:
    """Whether base64 stands there, rather than dots or words."""
    return any(
        any(c.isupper() for c in run) and any(c.islower() or c.isdigit() for c in run) and len(set(run)) > 3
        for run in _KEY_BODY.findall(body.replace("\\n", "\n").replace("\\r", "\n"))
    )
