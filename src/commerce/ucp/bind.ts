// UCP: the checkout that a request names twice.
import { bind } from '../compare.ts'
import { pickText } from '../decode/value.ts'
import { jsonBody } from '../message.ts'
import type { Binding } from '../ports.ts'
import type { Stated } from '../protocol.ts'
import type { UcpFacts } from './facts.ts'

/** The id of a path against that of the body. */
export function bindUcp({ layer, facts, reading: { message } }: Stated<UcpFacts>): Binding[] {
  // Elsewhere the last part of a path may be a verb (`/catalog/product`), and `id` that of an event.
  if (layer.transport !== 'rest' || !/^(?:checkout|cart)\b/.test(layer.stage)) return []
  const { checkoutId } = facts
  const inBody = pickText(jsonBody(message), 'id')
  // `{id}` is the specification's own.
  if (checkoutId?.at !== '/target' || inBody === null || /^\{\w+\}$/.test(checkoutId.value)) return []
  const isSame = checkoutId.value === inBody.value
  return [
    bind(
      'resource',
      isSame ? 'match' : 'mismatch',
      inBody.at,
      '/target',
      isSame
        ? 'The body is about the checkout of the path.'
        : 'The body is about another checkout than the path.',
    ),
  ]
}
