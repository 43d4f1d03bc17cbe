// The way out of the authorization server: a client's metadata document, or its keys. oidc-provider asks in the words of `fetch`; what it
// is given went through the gateway's own vetting, and is read as it is meant.
import type { DocumentReader } from '../../outbound/document.ts'
import { isObject } from '../../lib/json.ts'
import type { Logger } from '../../lib/log.ts'
import { readDocument } from './clients.ts'
import { knownDocument } from './known-clients.ts'

export const MAX_DOCUMENT_BYTES = 64 * 1024
const TIMEOUT_MS = 2500

/** @returns answers as `fetch` does; it throws where there is no document to be had */
export function createDocumentFetch({
  readDocument: read,
  log,
}: {
  readonly readDocument: DocumentReader
  readonly log: Logger
}): (input: string | URL | Request) => Promise<Response> {
  return async (input) => {
    const url = input instanceof Request ? input.url : String(input)
    const answer = await read({
      url,
      accept: 'application/json',
      maxBytes: MAX_DOCUMENT_BYTES,
      timeoutMs: TIMEOUT_MS,
    })
    if (answer.ok && answer.document.status === 200) {
      const { text, headers } = answer.document
      const said = isKeys(text) ? text : JSON.stringify(readDocument(text) ?? null)
      return new Response(said, { status: 200, headers })
    }
    const known = knownDocument(url)
    if (known) return Response.json(known)
    const reason = answer.ok ? `status_${answer.document.status}` : answer.reason
    log.info({ reason }, 'the document of a client could not be read')
    throw new Error(`the document could not be read: ${reason}`)
  }
}

/** A set of keys (RFC 7517) is no metadata, and says of no client who it is; what does is read as metadata, whatever else is in it. */
function isKeys(text: string): boolean {
  try {
    const said: unknown = JSON.parse(text)
    return isObject(said) && Array.isArray(said['keys']) && !('client_id' in said)
  } catch {
    return false
  }
}
