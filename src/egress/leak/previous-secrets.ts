// Secrets that were replaced, kept sealed beside the one that took their place: an upstream accepts an old key for as long as its
// owner has not withdrawn it there, and caches and logs show it. They are never sent, only searched for. They are in the sealed text
// itself, so re-wrapping, revoking and deleting a credential does the same to them.
import { toCanonicalJson } from '../../lib/canonical-json.ts'
import { isObject } from '../../lib/json.ts'
import { Secret } from '../../lib/secret.ts'

/** How long a secret is searched for after it was replaced. Nobody tells the gateway when it was withdrawn at its issuer. */
const SOUGHT_FOR_MS = 30 * 24 * 3_600_000

/** The oldest go first. Each is a search of its own. */
const MOST_PREVIOUS = 4
/** Beside those, and by the same rule; but for what was minted from the secret that is replaced, all of which is kept. */
const MOST_TOKENS = 6

export interface PreviousSecret {
  readonly secret: Secret<string>
  /** In milliseconds since the epoch. */
  readonly soughtUntil: number
}

/** What is sealed: the text of today, what came before it, and what was minted from that. */
export interface SealedText {
  readonly current: Secret<string>
  readonly previous: readonly PreviousSecret[]
  /** Each is sought until it ends. */
  readonly tokens: readonly PreviousSecret[]
}

/** No secret and no JSON text begins with it, so that a text without previous secrets is what it always was. */
const MARK = '\u0000'

/** @throws where what was sealed begins with the mark and is not what was written */
export function readSealedText(sealed: Secret<string>): SealedText {
  return sealed.use((text) => {
    if (!text.startsWith(MARK)) return { current: sealed, previous: [], tokens: [] }
    const value = parseQuietly(text.slice(MARK.length))
    if (!isObject(value)) throw new Error('sealed text: not an object')
    const { current, previous, tokens = [] } = value
    if (typeof current !== 'string' || !Array.isArray(previous) || !Array.isArray(tokens))
      throw new Error('sealed text: not of a current and previous secrets')
    return {
      current: new Secret(current),
      previous: previous.map(readPrevious),
      tokens: tokens.map(readPrevious),
    }
  })
}

function readPrevious(value: unknown): PreviousSecret {
  if (!isObject(value) || typeof value['secret'] !== 'string' || typeof value['sought_until'] !== 'number')
    throw new Error('sealed text: not a previous secret')
  return { secret: new Secret(value['secret']), soughtUntil: value['sought_until'] }
}

/** The words of a parser's error quote what it was given. */
function parseQuietly(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** What a new text takes the place of. */
export interface Replaced {
  readonly before: SealedText
  /** Every text of `before` that was secret. */
  readonly secrets: readonly Secret<string>[]
  /** What was minted from them and may still live. */
  readonly tokens?: readonly PreviousSecret[]
}

/** The text to seal, with what it replaces. */
export function replaceSealedText(
  { before, secrets, tokens: minted = [] }: Replaced,
  current: Secret<string>,
  now: number,
): Secret<string> {
  const added = secrets.map((secret) => ({ secret, soughtUntil: now + SOUGHT_FOR_MS }))
  const previous = [...added, ...stillSought(before.previous, now)]
  const kept = previous.slice(0, Math.max(MOST_PREVIOUS, added.length))
  const tokens = stillSought([...minted, ...before.tokens], now).slice(
    0,
    Math.max(MOST_TOKENS, minted.length),
  )
  if (kept.length === 0 && tokens.length === 0) return current
  const texts = {
    previous: kept.map(showPrevious),
    ...(tokens.length > 0 && { tokens: tokens.map(showPrevious) }),
  }
  return current.use((text) => new Secret(`${MARK}${toCanonicalJson({ current: text, ...texts })}`))
}

const showPrevious = ({ secret, soughtUntil }: PreviousSecret) =>
  secret.use((text) => ({ secret: text, sought_until: soughtUntil }))

/** Nobody knows more of a token without an end than of a secret. */
export const soughtUntil = (endsAt: number | undefined, now: number): number => endsAt ?? now + SOUGHT_FOR_MS

export const stillSought = (previous: readonly PreviousSecret[], now: number): PreviousSecret[] =>
  previous.filter(({ soughtUntil }) => soughtUntil > now)
