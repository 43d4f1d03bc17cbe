// Tells a PDF by its first bytes: everything else about it is found out in the child process.
import { parseContentType } from '../../outbound/media-type.ts'
import type { PageInput } from '../reading.ts'

const SIGNATURE = '%PDF-'
/** Readers of PDF look for the signature that far, and servers put a line before it. */
const LOOK_WITHIN = 1024
const TYPES = new Set(['application/pdf', 'application/x-pdf'])

/** A type that says PDF may have a line before the signature; with any other the signature comes first. */
export function isPdf({ body, contentType }: Pick<PageInput, 'body' | 'contentType'>): boolean {
  const head = Buffer.from(body.buffer, body.byteOffset, Math.min(body.byteLength, LOOK_WITHIN))
  const at = head.indexOf(SIGNATURE, 0, 'latin1')
  return at === 0 || (at > 0 && TYPES.has(parseContentType(contentType ?? undefined).essence))
}
