// Public formats of credentials: how each begins, and what follows. Every pattern is anchored at a literal, has bounded
// counts and no alternatives that overlap, so each character is looked at a fixed number of times.
import { PERMIT_HEADER_END } from '../../lib/tokens.ts'

export interface SecretPattern {
  readonly kind: string
  /** Literals it can begin with. */
  readonly starts: readonly string[]
  /** Sticky: the whole of it, from its beginning on. */
  readonly shape: RegExp
  /** Most characters that `shape` looks at. */
  readonly reach: number
  /** Pattern of the characters before the literal, read backwards so far. */
  readonly before?: { readonly chars: number; readonly test: RegExp }
  /** Expected in places; a person should look. */
  readonly isMild?: true
}

/** Nothing that a longer word could go on with. */
const END = '(?![A-Za-z0-9_-])'
/** A character that is part of no word. */
export const NO_WORD = '[^A-Za-z0-9_-]'
/** A key begins a word, unless its pattern says something else. */
export const BOUNDARY = new RegExp(`(?:^|${NO_WORD})$`)
/** @returns a literal as a pattern writes it */
export const escape = (literal: string): string => literal.replaceAll(/[.*+?^${}()|[\]\\-]/g, String.raw`\$&`)

const pattern = (
  kind: string,
  starts: string | readonly string[],
  tail: string,
  reach: number,
  more: Pick<SecretPattern, 'isMild'> = {},
): SecretPattern => {
  const list = typeof starts === 'string' ? starts.split(' ') : starts
  const head = list.map(escape).join('|')
  return { kind, starts: list, shape: new RegExp(`(?:${head})${tail}${END}`, 'y'), reach, ...more }
}

const ANYTHING = { chars: 0, test: /^/ }

/** Their order counts: what is told first is not told again under a wider name. */
export const PATTERNS: readonly SecretPattern[] = [
  pattern('gateway_token', 'agw_sk_ agw_cap_ agw_ek_', '[0-9A-Za-z]{8,64}', 72),
  // A permit: whoever has it may have its request sent.
  {
    kind: 'gateway_token',
    starts: [PERMIT_HEADER_END],
    shape: new RegExp(String.raw`${PERMIT_HEADER_END}\.[\w-]{1,64}`, 'y'),
    reach: 88,
    before: { chars: 256, test: /(?:^|[^\w-])[\w-]*$/ },
  },
  // An id with a date behind it names whoever signed a request, and no key goes along.
  pattern('aws_access_key', 'AKIA ASIA', String.raw`[A-Z0-9]{16}(?!(?:/|%2F)\d{8}(?:/|%2F))`, 34),
  pattern('github_token', 'ghp_ gho_ ghs_ ghu_ ghr_', '[A-Za-z0-9]{36,251}', 256),
  pattern('github_token', 'github_pat_', '[A-Za-z0-9_]{60,120}', 132),
  pattern('gitlab_token', 'glpat- glrt- gldt-', '[A-Za-z0-9_.-]{20,300}', 306),
  pattern('stripe_secret_key', 'sk_live_ rk_live_', '[A-Za-z0-9]{16,247}', 256),
  pattern('stripe_test_key', 'sk_test_ rk_test_', '[A-Za-z0-9]{16,247}', 256, { isMild: true }),
  pattern('webhook_secret', 'whsec_', '[A-Za-z0-9+/]{24,128}={0,2}', 136),
  pattern('anthropic_key', 'sk-ant-', '[a-z0-9]{2,12}-[A-Za-z0-9_-]{24,240}', 260),
  pattern('openai_key', 'sk-proj- sk-svcacct- sk-admin-', '[A-Za-z0-9_-]{20,240}', 252),
  pattern('openai_key', 'sk-', '[A-Za-z0-9]{20}T3BlbkFJ[A-Za-z0-9]{20}', 52),
  pattern('openrouter_key', 'sk-or-v1-', '[a-f0-9]{64}', 74),
  pattern('google_api_key', 'AIza', '[0-9A-Za-z_-]{35}', 40),
  pattern('google_oauth_secret', 'GOCSPX-', '[0-9A-Za-z_-]{28}', 36),
  pattern('slack_token', 'xoxa- xoxb- xoxe- xoxo- xoxp- xoxr- xoxs-', '[A-Za-z0-9-]{10,250}', 256),
  pattern('slack_token', 'xapp-', '[0-9]-[A-Za-z0-9-]{20,250}', 260),
  pattern('slack_webhook', 'https://hooks.slack.com/', '[a-z]{1,12}/[A-Za-z0-9+/]{30,120}', 160),
  pattern('discord_webhook', 'discord.com/api/webhooks/', '[0-9]{15,22}/[A-Za-z0-9_-]{50,90}', 140),
  pattern('npm_token', 'npm_', '[A-Za-z0-9]{36}', 41),
  pattern('pypi_token', 'pypi-AgE', '[A-Za-z0-9_-]{50,300}', 310),
  pattern('docker_token', 'dckr_pat_ dckr_oat_', '[A-Za-z0-9_-]{20,64}', 74),
  pattern('sendgrid_key', 'SG.', String.raw`[A-Za-z0-9_-]{16,32}\.[A-Za-z0-9_-]{32,64}`, 102),
  pattern('twilio_key', 'SK', '[0-9a-f]{32}', 35),
  pattern('huggingface_token', 'hf_', '[A-Za-z0-9]{34,40}', 44),
  pattern('groq_key', 'gsk_', '[A-Za-z0-9]{48,56}', 61),
  pattern('replicate_token', 'r8_', '[A-Za-z0-9]{37}', 41),
  pattern('vercel_token', 'vcp_ vci_ vca_ vcr_ vck_', '[A-Za-z0-9_-]{24,80}', 85),
  pattern('supabase_token', 'sbp_', '[0-9a-f]{40}', 45),
  pattern('supabase_token', 'sb_secret_', '[A-Za-z0-9_-]{20,64}', 75),
  pattern('digitalocean_token', 'dop_v1_ doo_v1_ dor_v1_', '[0-9a-f]{64}', 72),
  pattern('shopify_token', 'shpat_ shpss_ shpca_ shppa_', '[0-9a-fA-F]{32}', 39),
  pattern('notion_token', 'ntn_', '[A-Za-z0-9]{40,60}', 65),
  pattern('linear_key', 'lin_api_', '[A-Za-z0-9]{40}', 49),
  pattern('postman_key', 'PMAK-', '[0-9a-f]{24}-[0-9a-f]{34}', 65),
  pattern('databricks_token', 'dapi', '[0-9a-f]{32}', 40),
  pattern('vault_token', 'hvs. hvb.', '[A-Za-z0-9_-]{24,200}', 206),
  pattern('age_secret_key', 'AGE-SECRET-KEY-1', '[QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L]{58}', 75),
  // The words of the first line differ; what is between the lines does not matter.
  {
    kind: 'private_key_pem',
    starts: ['-----BEGIN '],
    shape: /-----BEGIN [A-Z0-9 ]{0,24}PRIVATE KEY(?: BLOCK)?-----/y,
    reach: 64,
    before: ANYTHING,
  },
  {
    kind: 'telegram_token',
    starts: [':AA'],
    shape: /:AA[A-Za-z0-9_-]{32,33}(?![A-Za-z0-9_-])/y,
    reach: 40,
    before: { chars: 11, test: /(?:^|[^0-9A-Za-z])[0-9]{8,10}$/ },
  },
  {
    kind: 'discord_token',
    starts: ['.'],
    shape: /\.[A-Za-z0-9_-]{6}\.[A-Za-z0-9_-]{27,40}(?![A-Za-z0-9_.~-])/y,
    reach: 52,
    before: { chars: 28, test: /(?:^|[^A-Za-z0-9_.-])[MNO][A-Za-z0-9_-]{22,27}$/ },
  },
  {
    kind: 'basic_auth_url',
    starts: ['://'],
    shape: /:\/\/[^\s/?#@:"'<>\\]{0,128}:[^\s/?#@"'<>\\]{1,256}@(?=[A-Za-z0-9[])/y,
    reach: 390,
    before: ANYTHING,
  },
  {
    kind: 'jwt',
    // All JSON in base64 begins like the first part; the second hardly ever comes without it.
    starts: ['.eyJ'],
    shape: /\.eyJ[A-Za-z0-9_-]{8,8192}\.[A-Za-z0-9_-]{16,2048}(?![A-Za-z0-9_.~-])/y,
    reach: 10_300,
    before: { chars: 2052, test: /(?:^|[^A-Za-z0-9_.~-])eyJ[A-Za-z0-9_-]{8,2048}$/ },
    isMild: true,
  },
]

/** Kinds whose digest would say what they are: too little in them to guess at. */
export const GUESSABLE_KINDS: ReadonlySet<string> = new Set(['basic_auth_url'])

/** One of these is in each of them. */
export const SECRET_WORD = /secret|key|token|passw|passphrase|mnemonic|seed/i
/** Words before and behind which a secret stands as `name: value` in text that is no JSON. */
export const SECRET_NAME =
  /(?:^|[^a-z])(?:secret|api[_-]?key|apikey|private[_-]?key|secret[_-]?key|signing[_-]?key|wallet[_-]?key|access[_-]?key|access[_-]?token|auth[_-]?token|refresh[_-]?token|bearer[_-]?token|client[_-]?secret|app[_-]?secret|mnemonic|seed[_-]?phrase|seed|passphrase|password|passwd)$/
/** A key of a wallet may stand under these. */
export const KEY_NAME = /(?:private|secret|signing|wallet|mnemonic|seed|passphrase)/
