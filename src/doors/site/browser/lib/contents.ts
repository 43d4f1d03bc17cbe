// Compares the digests in a signed document with what it is said to be about: the request in a quote, the answer around a receipt, a
// body that somebody has.
import canonicalize from 'canonicalize'
import { isObject } from '../../../../lib/json.ts'
import { toBase64, toBase64url } from './base64url.ts'
import { type Check, parse, type Proof } from './proof.ts'

/** Names of members that hold the digest of something a reader may have; others name records of the gateway. */
const DIGEST =
  /^(?:digest|sha256|(?:request|result|response|content|url|headers|body|target|response_content)_(?:digest|sha256))$/

interface Digest {
  readonly path: string
  readonly value: string
}

/** One text that may have been hashed. */
interface Content {
  readonly what: 'bytes' | 'canonical' | 'compact' | 'without_receipt'
  readonly text: string
}

/**
 * What of the document's digests can be seen with what is at hand.
 * @param beside what the document was pasted with: an answer, as JSON
 * @param body a text that it is said to be about; empty where there is none
 */
export async function checkContents(proof: Proof, beside: unknown, body: string): Promise<readonly Check[]> {
  const { payload } = proof
  if (!payload || !globalThis.crypto?.subtle) return []
  const digests = listDigests(payload)
  const [own, around, given] = await Promise.all([
    checkOwnRequest(payload, digests),
    isObject(beside) ? checkAnswer(beside, digests) : [],
    body === '' ? [] : checkBody(body, digests),
  ])
  return [...own, ...around, ...given]
}

/** A quote holds the request that it prices. One that was too long stands there shortened, so that another digest proves nothing. */
async function checkOwnRequest(payload: object, digests: readonly Digest[]): Promise<Check[]> {
  const request: unknown = 'request' in payload ? payload.request : undefined
  const digest = digests.find(({ path }) => path === 'request_digest')
  if (!isObject(request) || !digest) return []
  const isSame = await isDigestOf(digest, toCanonical(request))
  return [
    isSame
      ? { name: 'contents', is: 'done', code: 'request_matches', detail: { digest: digest.path } }
      : { name: 'contents', is: 'unknown', code: 'request_shortened', detail: { digest: digest.path } },
  ]
}

/** What a receipt or evidence says of the answer that it came with. */
async function checkAnswer(
  answer: Readonly<Record<string, unknown>>,
  digests: readonly Digest[],
): Promise<Check[]> {
  const checks: Check[] = []
  const { receipt, request, response, ...rest } = answer
  const result = digests.find(({ path }) => path === 'result_sha256')
  if (result && isObject(receipt)) {
    const { receipt: _own, ...without } = answer
    const isSame = await isDigestOf(result, JSON.stringify(without))
    checks.push({
      name: 'contents',
      is: isSame ? 'done' : 'failed',
      code: isSame ? 'answer_matches' : 'answer_differs',
      detail: { digest: result.path },
    })
  }
  const asked = digests.find(({ path }) => path === 'request_digest')
  if (
    asked &&
    isObject(request) &&
    Object.keys(rest).length > 0 &&
    (await isDigestOf(asked, toCanonical(request)))
  )
    checks.push({ name: 'contents', is: 'done', code: 'request_matches', detail: { digest: asked.path } })
  const came = digests.find(({ path }) => path === 'response_digest')
  const body = isObject(response) ? response['body'] : undefined
  if (came && typeof body === 'string' && (await isDigestOf(came, body)))
    checks.push({ name: 'contents', is: 'done', code: 'response_matches', detail: { digest: came.path } })
  return checks
}

/** Whether any digest is the one of a text that somebody has. */
async function checkBody(body: string, digests: readonly Digest[]): Promise<Check[]> {
  if (digests.length === 0) return [{ name: 'contents', is: 'unknown', code: 'no_digests' }]
  const checks: Check[] = []
  for (const { what, text } of contentsOf(body)) {
    const spellings = await digestOf(text)
    for (const { path, value } of digests)
      if (spellings.includes(value) && !checks.some(({ detail }) => detail?.['digest'] === path))
        checks.push({ name: 'contents', is: 'done', code: `body_${what}`, detail: { digest: path } })
  }
  if (checks.length > 0) return checks
  const paths = digests.map(({ path }) => path).join(', ')
  return [{ name: 'contents', is: 'failed', code: 'body_differs', detail: { digest: paths } }]
}

function contentsOf(body: string): Content[] {
  const contents: Content[] = [{ what: 'bytes', text: body }]
  // An editor, and a shell's echo, end a file with a line break that nobody hashed.
  if (/\r?\n$/.test(body)) contents.push({ what: 'bytes', text: body.replace(/\r?\n$/, '') })
  const json = parse(body)
  if (typeof json !== 'object' || json === null) return contents
  contents.push(
    { what: 'canonical', text: toCanonical(json) },
    { what: 'compact', text: JSON.stringify(json) },
  )
  if (isObject(json)) {
    const { receipt: _receipt, ...rest } = json
    contents.push({ what: 'without_receipt', text: JSON.stringify(rest) })
  }
  return contents
}

function listDigests(value: Readonly<Record<string, unknown>>, at: readonly string[] = []): Digest[] {
  if (at.length > 4) return []
  return Object.entries(value).flatMap(([name, member]) => {
    const path = [...at, name]
    if (isObject(member)) return listDigests(member, path)
    return DIGEST.test(name) && typeof member === 'string' ? [{ path: path.join('.'), value: member }] : []
  })
}

const isDigestOf = async ({ value }: Digest, text: string): Promise<boolean> =>
  (await digestOf(text)).includes(value)

/** SHA-256 in the spellings that are used here: hex, base64url, and RFC 9530's. */
async function digestOf(text: string): Promise<readonly string[]> {
  const bytes = new Uint8Array(await crypto.subtle.digest('SHA-256', new TextEncoder().encode(text)))
  const hex = [...bytes].map((byte) => byte.toString(16).padStart(2, '0')).join('')
  return [hex, toBase64url(bytes), `sha-256=:${toBase64(bytes)}:`]
}

function toCanonical(value: object): string {
  try {
    return canonicalize(value) ?? ''
  } catch {
    return ''
  }
}
