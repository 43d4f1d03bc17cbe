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

/** AWS takes a request for five minutes, S3 and others for fifteen. */
const REPLAYABLE_MS = 15 * 60_000
/** Of one credential, by this process; the oldest go first. */
const MOST_RECENT = 1024
const MOST_CREDENTIALS = 256

/** Remembers which signatures were made lately, and looks for them. */
export function createSignatures({ createLeakGate, now }: SignatureParts): Signatures {
  const recent = new Map<string, Map<string, number>>()
  const gates = new WeakMap<OpenedCredential, { readonly day: string; readonly gate: () => LeakGate }>()

  function remember(credentialId: string, signature: Signature): ReadonlyMap<string, number> {
    const known = recent.get(credentialId) ?? new Map<string, number>()
    // Whoever signs most lately is forgotten last.
    recent.delete(credentialId)
    recent.set(credentialId, known)
    keepNewest(recent, MOST_CREDENTIALS)
    for (const [form, until] of known) if (until <= now()) known.delete(form)
    for (const form of formsOf(signature)) known.set(form, now() + REPLAYABLE_MS)
    keepNewest(known, MOST_RECENT * FORMS)
    return known
  }

  /** Preparing a gate costs more than most searches, so that it serves for the day that the keys do. */
  function gateOf(
    credential: SealedCredential,
    opened: OpenedCredential,
    signature: Signature,
  ): () => LeakGate {
    const { derived, opensOthers, value } = signature
    if (opensOthers)
      return () =>
        createLeakGate([...opened.sought, new Secret(value), ...(derived?.keys() ?? [])], credential)
    if (!derived) return opened.gate
    const known = gates.get(opened)
    if (known?.day === derived.day) return known.gate
    let made: LeakGate | undefined
    const gate = () => (made ??= createLeakGate([...opened.sought, ...derived.keys()], credential))
    gates.set(opened, { day: derived.day, gate })
    return gate
  }

  return {
    seek(credential, opened, signature, status) {
      const known = remember(credential.id, signature)
      const gate = gateOf(credential, opened, signature)
      const isShownBack = (status === 401 || status === 403) && !signature.opensOthers
      const own = new Set(formsOf(signature))
      const isSought = (form: string) => known.has(form) && !(isShownBack && own.has(form))
      const lengths = [...new Set([...known.keys()].map(({ length }) => length))]
      return {
        ...opened,
        gate: () => ({
          async inspect(response) {
            const where = await findSignature(response, isSought, lengths)
            return where === undefined
              ? gate().inspect(response)
              : { ok: false, reason: 'reflected', where, encoding: 'signature' }
          },
        }),
      }
    },
  }
}

const FORMS = 2
/** In hexadecimal and in base64, folded as what they are compared with. */
function formsOf({ value, encoding }: Signature): readonly string[] {
  const bytes = Buffer.from(value, encoding)
  return [bytes.toString('hex'), fold(bytes.toString('base64').replaceAll('=', ''))]
}

const fold = (text: string) => text.replaceAll('-', '+').replaceAll('_', '/').toLowerCase()

type Response = Parameters<LeakGate['inspect']>[0]

/** What is searched between two rounds of the event loop. */
const CHUNK_BYTES = 128 * 1024
/** Longer than any signature with its escapes. */
const OVERLAP_BYTES = 512

async function findSignature(
  { statusText, headers, body }: Response,
  isSought: (form: string) => boolean,
  lengths: readonly number[],
): Promise<'status_line' | 'headers' | 'body' | undefined> {
  if (holdsSignature(statusText, isSought, lengths)) return 'status_line'
  if (headers.some(({ value }) => holdsSignature(value, isSought, lengths))) return 'headers'
  for (let at = 0; at < body.length; at += CHUNK_BYTES) {
    if (at > 0) await setImmediate()
    const text = body.toString('latin1', at, at + CHUNK_BYTES + OVERLAP_BYTES)
    if (holdsSignature(text, isSought, lengths)) return 'body'
  }
  return undefined
}

const WORD = /[A-Za-z0-9+/_-]{27,}/g
const ESCAPED = /%2[BF]|\\\/|\\u002[bf]/i

/** Signatures stand behind a name and an equals sign, in quotes, or as they are: a word, or the beginning or end of one. */
function holdsSignature(
  given: string,
  isSought: (form: string) => boolean,
  lengths: readonly number[],
): boolean {
  const text = ESCAPED.test(given)
    ? given.replaceAll(/%2B|\\u002b/gi, '+').replaceAll(/%2F|\\\/|\\u002f/gi, '/')
    : given
  for (const [found] of text.matchAll(WORD)) {
    const word = fold(found)
    for (const length of lengths)
      if (word.length >= length && (isSought(word.slice(0, length)) || isSought(word.slice(-length))))
        return true
  }
  return false
}
