// ACP: what a message says twice, in its header and in the arguments of a tool, in its path and in its body.
import { bind } from '../compare.ts'
import { pickText } from '../decode/value.ts'
import type { Binding, Found, Json } from '../ports.ts'
import type { Stated } from '../protocol.ts'
import { readField } from '../wire/http.ts'
import type { AcpFacts } from './facts.ts'

/** Key and version of the header against those of `meta`; the session that an answer is about against the one that was asked for. */
export function bindAcp({ layer, facts, reading: { message } }: Stated<AcpFacts>): Binding[] {
  return [
    ...compare(readField(message, 'idempotency-key'), facts.idempotencyKey, 'Idempotency-Key'),
    ...compare(readField(message, 'api-version'), facts.apiVersion, 'API-Version'),
    ...bindAnswer(layer.document ?? null, facts),
  ]
}

/** @param used what counts, which is that of the body where it has one */
function compare(header: Found<string> | null, used: Found<string> | null, name: string): Binding[] {
  if (header === null || used === null || used.at.startsWith('/headers/')) return []
  const isSame = header.value === used.value
  return [
    bind(
      'header_body',
      isSame ? 'match' : 'mismatch',
      header.at,
      used.at,
      isSame ? `${name} is that of the arguments.` : `${name} is not that of the arguments.`,
    ),
  ]
}

/** Who asks wrote the path: an answer about another session is for a person to look at. */
function bindAnswer(document: Found<Json> | null, { answer, sessionId, resource }: AcpFacts): Binding[] {
  if (answer !== 'result' || resource !== 'checkout' || sessionId?.at !== '/target') return []
  const id = pickText(document, 'id')
  if (id === null || id.value === sessionId.value || /^\{\w+\}$/.test(sessionId.value)) return []
  return [
    bind(
      'resource',
      'partial',
      id.at,
      sessionId.at,
      'The answer is about another session than was asked for.',
    ),
  ]
}
