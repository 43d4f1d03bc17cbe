// Serves documents whose bytes never change while the process runs: cards and the skills document.
import { createHash } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { GatewayError } from '../../core/errors.ts'
import { type Headers, sendBytes } from '../http/reply.ts'

export interface FixedDocument {
  readonly body: Buffer
  readonly etag: string
  /** Milliseconds; HTTP counts whole seconds. */
  readonly modified: number
  readonly headers: Headers
}

/** @param modified in milliseconds */
export function fixDocument(value: unknown, modified: number, headers: Headers = {}): FixedDocument {
  const body = Buffer.from(JSON.stringify(value))
  const etag = `"${createHash('sha256').update(body).digest('base64url').slice(0, 22)}"`
  return {
    body,
    etag,
    modified,
    headers: {
      'content-type': 'application/json',
      etag,
      'last-modified': new Date(modified).toUTCString(),
      'cache-control': 'public, max-age=300',
      // A card is public and read from web pages too.
      'access-control-allow-origin': '*',
      ...headers,
    },
  }
}

/** @throws {GatewayError} method_not_allowed */
export function sendDocument(req: IncomingMessage, res: ServerResponse, document: FixedDocument): void {
  if (req.method !== 'GET' && req.method !== 'HEAD')
    throw new GatewayError('method_not_allowed', 'Use GET here.', {
      extras: { allow: ['GET', 'HEAD', 'OPTIONS'] },
    })
  if (isFresh(req, document)) {
    const { 'content-type': _type, ...headers } = document.headers
    res.writeHead(304, headers).end()
    return
  }
  if (req.method === 'HEAD') {
    res.writeHead(200, { ...document.headers, 'content-length': document.body.length }).end()
    return
  }
  sendBytes(res, 200, document.body, document.headers)
}

/** RFC 9110 13.2.2: If-None-Match decides; If-Modified-Since only where it is missing. */
function isFresh(req: IncomingMessage, document: FixedDocument): boolean {
  const etags = req.headers['if-none-match']
  if (etags !== undefined) {
    const known = etags.split(',').map((tag) => tag.trim().replace(/^W\//, ''))
    return known.includes('*') || known.includes(document.etag)
  }
  const since = Date.parse(req.headers['if-modified-since'] ?? '')
  return since >= Math.trunc(document.modified / 1000) * 1000
}
