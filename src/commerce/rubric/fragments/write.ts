// What several protocols write in the same way.

/** Fragments by the ids of their checks, with blanks between. */
export type Fragments = Readonly<Record<string, string>>

export const json = (value: object): string => JSON.stringify(value, null, 2)

/** A header field to a line. */
export const lines = (...fields: readonly string[]): string => fields.join('\n')

export const HTTPS = 'https://<host>/<path>'
export const KEY = 'Idempotency-Key: <UUID v4, made once per purchase and repeated on every retry>'
export const DIGEST = 'Content-Digest: sha-256=:<base64 of the SHA-256 of exactly the bytes of the body>:'
export const TRACE = 'Request-Id: <UUID v4>'
