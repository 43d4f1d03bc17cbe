// What a signature is worth to whoever reads it in an answer, and what answers are searched for accordingly:
// - Keys that are derived from the secret sign anything for a day, and the bytes that it stands for always: searched for like the
//   secret, whatever the status.
// - A signature that does not cover the whole request opens others as well: the same.
// - A signature of another request lets that one be sent again for some minutes, past its budget: searched for, whatever the status.
// - The signature of this very request lets its sender send it again: searched for, but for the refusals 401 and 403. There the upstream
//   shows what it was given and did not take, so that somebody can mend it (AWS: `SignatureDoesNotMatch`).
import { setImmediate } from 'node:timers/promises'
import { keepNewest } from '../../lib/keep-newest.ts'
import { Secret } from '../../lib/secret.ts'
import type { SealedCredential } from '../../store/ports.ts'
import type { CreateLeakGate, LeakGate } from '../leak/inspection.ts'
import type { OpenedCredential } from '../opened-credential-cache.ts'
import type { Signature } from './kind.ts'

export interface SignatureParts {
  readonly createLeakGate: CreateLeakGate
  readonly now: () => number
}

export interface Signatures {
  /** @returns what an answer of this status has to be searched for */
  seek(
    credential: SealedCredential,
    opened: OpenedCredential,
    signature: Signature,
    status: number,
  ): OpenedCredential
}

type Sought = Pick<OpenedCredential, 'sought' | 'gate'>

/** AWS takes a request for five minutes, S3 and others for fifteen. */
const REPLAYABLE_MS = 15 * 60_000
/** Of one credential, by this process; the oldest go first. */
const MOST_RECENT = 1024
const MOST_CREDENTIALS = 256

/** Remembers which signatures were made lately, and looks for them. */
export function createSignatures({ createLeakGate, now }: SignatureParts): Signatures {
  const recent = new Map<string, Map<string, number>>()
  const daily = new WeakMap<OpenedCredential, Sought & { readonly day: string }>()

  function remember(credentialId: string, forms: readonly string[]): ReadonlyMap<string, number> {
    const known = recent.get(credentialId) ?? new Map<string, number>()
    // Whoever signs most lately is forgotten last.
    recent.delete(credentialId)
    recent.set(credentialId, known)
    keepNewest(recent, MOST_CREDENTIALS)
    for (const form of forms) known.set(form, now() + REPLAYABLE_MS)
    keepNewest(known, MOST_RECENT * FORMS)
    return known
  }

  function soughtFor(credential: SealedCredential, sought: readonly Secret<string>[]): Sought {
    let made: LeakGate | undefined
    return { sought, gate: () => (made ??= createLeakGate(sought, credential)) }
  }

  /** What is looked for by parts and in every form. Preparing a gate costs more than most searches: one serves as long as its keys do. */
  function keysSought(
    credential: SealedCredential,
    opened: OpenedCredential,
    { derived }: Signature,
  ): Sought {
    if (!derived) return opened
    const known = daily.get(opened)
    if (known?.day === derived.day) return known
    const added = {
      day: derived.day,
      ...soughtFor(credential, [...opened.sought, ...derived.keys()]),
    }
    daily.set(opened, added)
    return added
  }

  /** A signature is another one for each request: it has a gate of its own, which is a small one, beside that of the keys. */
  function soughtOf(credential: SealedCredential, opened: OpenedCredential, signature: Signature): Sought {
    const keys = keysSought(credential, opened, signature)
    if (!signature.opensOthers) return keys
    const alone = soughtFor(credential, [new Secret(signature.value)])
    let both: LeakGate | undefined
    return {
      sought: [...keys.sought, ...alone.sought],
      gate: () => (both ??= bothOf(keys.gate(), alone.gate())),
    }
  }

  return {
    seek(credential, opened, signature, status) {
      const own = formsOf(signature)
      const known = remember(credential.id, own)
      const { sought, gate } = soughtOf(credential, opened, signature)
      const isShownBack = (status === 401 || status === 403) && !signature.opensOthers
      const spellings = isShownBack ? [] : spellingsOf(signature)
      const isSought = (form: string) =>
        (known.get(form) ?? 0) > now() && !(isShownBack && own.includes(form))
      // Signatures of one credential are made in one way.
      const lengths = own.map(({ length }) => length)
      return {
        ...opened,
        sought,
        gate: () => ({
          async inspect(response, seen) {
            const where = findText(response, spellings) ?? (await findSignature(response, isSought, lengths))
            return where === undefined
              ? gate().inspect(response, seen)
              : { ok: false, reason: 'reflected', where, encoding: 'signature' }
          },
        }),
      }
    },
  }
}

/** Parts that are too short by themselves count together for each value, whichever gate seeks it. */
export const bothOf = (first: LeakGate, second: LeakGate): LeakGate => ({
  prepare() {
    first.prepare?.()
    second.prepare?.()
  },
  async inspect(response, seen) {
    const verdict = await first.inspect(response, seen)
    return verdict.ok ? second.inspect(response, seen) : verdict
  },
})

const FORMS = 2
/** In hexadecimal and in base64, folded as what they are compared with. */
function formsOf({ value, encoding }: Signature): readonly string[] {
  const bytes = Buffer.from(value, encoding)
  return [bytes.toString('hex'), fold(bytes.toString('base64').replaceAll('=', ''))]
}

const fold = (text: string) => text.replaceAll('-', '+').replaceAll('_', '/').toLowerCase()

type Response = Parameters<LeakGate['inspect']>[0]
type Place = 'status_line' | 'headers' | 'body'

/** Letter by letter, whatever it stands in. */
const spellingsOf = ({ value }: Signature) => [
  ...new Set([value, encodeURIComponent(value), value.replaceAll('/', '\\/')]),
]

function findText({ statusText, headers, body }: Response, spellings: readonly string[]): Place | undefined {
  if (spellings.some((text) => statusText.includes(text))) return 'status_line'
  if (headers.some(({ value }) => spellings.some((text) => value.includes(text)))) return 'headers'
  return spellings.some((text) => body.includes(text)) ? 'body' : undefined
}

/** What is searched between two rounds of the event loop. */
const CHUNK_BYTES = 128 * 1024
/** Longer than any signature with its escapes. */
const OVERLAP_BYTES = 512

async function findSignature(
  { statusText, headers, body }: Response,
  isSought: (form: string) => boolean,
  lengths: readonly number[],
): Promise<Place | undefined> {
  const holds = (bytes: Buffer) => holdsSignature(bytes, isSought, lengths)
  if (holds(Buffer.from(statusText, 'latin1'))) return 'status_line'
  if (headers.some(({ value }) => holds(Buffer.from(value, 'latin1')))) return 'headers'
  for (let at = 0; at < body.length; at += CHUNK_BYTES) {
    if (at > 0) await setImmediate()
    if (holds(body.subarray(at, at + CHUNK_BYTES + OVERLAP_BYTES))) return 'body'
  }
  return undefined
}

const IN_WORD = new Uint8Array(256)
for (const byte of Buffer.from('ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/-_'))
  IN_WORD[byte] = 1
/** SHA-1 in base64. */
const SHORTEST = 27
const ESCAPES = ['%2', '\\/', '\\u002']

const unescape = (bytes: Buffer) =>
  Buffer.from(
    bytes
      .toString('latin1')
      .replaceAll(/%2B|\\u002b/gi, '+')
      .replaceAll(/%2F|\\\/|\\u002f/gi, '/'),
    'latin1',
  )

/** Signatures stand behind a name and an equals sign, in quotes, or as they are: a word, or the beginning or end of one. */
function holdsSignature(
  given: Buffer,
  isSought: (form: string) => boolean,
  lengths: readonly number[],
): boolean {
  const bytes = ESCAPES.some((escape) => given.includes(escape)) ? unescape(given) : given
  // Every word that is long enough has a letter at one of these places.
  for (let at = SHORTEST - 1; at < bytes.length; at += SHORTEST) {
    if (IN_WORD[bytes[at] ?? 0] === 0) continue
    let start = at
    while (start > 0 && IN_WORD[bytes[start - 1] ?? 0] === 1) start--
    let end = at + 1
    while (end < bytes.length && IN_WORD[bytes[end] ?? 0] === 1) end++
    const word = (from: number, to: number) => isSought(fold(bytes.toString('latin1', from, to)))
    for (const length of lengths)
      if (end - start >= length && (word(start, start + length) || word(end - length, end))) return true
    // On behind the word, in step.
    at += Math.floor((end - at - 1) / SHORTEST) * SHORTEST
  }
  return false
}
