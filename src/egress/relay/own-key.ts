// A key of the program's own, for credentials that have it refused: it is never sent beside the stored one, and most are glad that it is
// replaced. Whoever wants to know that a program still holds one has it refused instead.
import type { Placement } from '../../../schemas/credential-settings.ts'
import { GatewayError } from '../../core/errors.ts'
import type { HeaderPairs } from '../headers.ts'
import { MAX_PLACED_ITEMS } from '../placement/body-bounds.ts'
import { holdsMoreFields, valuesOf } from '../placement/form-body.ts'
import { textsAt } from '../placement/json-body.ts'
import { takesKey } from './headers.ts'
import { isPlaceholder } from './placeholder.ts'

interface Given {
  /** As the program wrote it. */
  readonly url: string
  readonly headers: HeaderPairs
  /** Undefined where it streams: no credential goes into it then. */
  readonly body: Buffer | undefined
}

/** @throws {GatewayError} header_forbidden, target_invalid or input_invalid, which say where it stands and not what it is */
export function refuseOwnKey({ url, headers, body }: Given, placements: readonly Placement[]): void {
  const header = headers.find(
    ([name, value]) =>
      (takesKey(name, placements) && isKey(value)) || (/^cookie$/i.test(name) && holdsKey(value, placements)),
  )
  if (header) {
    const name = header[0].toLowerCase()
    throw new GatewayError('header_forbidden', `The request header ${name} has ${WORDS}`, {
      reason: 'own_key',
      extras: { header: name },
    })
  }
  const address = URL.parse(url)
  if (address && placements.some((placement) => isInAddress(placement, address)))
    throw new GatewayError('target_invalid', `The address has ${WORDS}`, { reason: 'own_key' })
  if (body && placements.some((placement) => isInBody(placement, body)))
    throw new GatewayError('input_invalid', `The body has ${WORDS}`, { reason: 'own_key' })
}

const WORDS =
  'a key of the program’s own, which this credential refuses (settings.relay.own_keys): give the program a placeholder or a capability ' +
  'instead. Nothing was sent or charged.'

/** Neither a token of this gateway nor a placeholder; alone, behind a scheme, or as the password of a pair. */
function isKey(value: string): boolean {
  const basic = /^basic +(\S+)$/i.exec(value.trim())?.[1]
  return (
    !/^(?:|bearer|basic|token)$/i.test(value.trim()) &&
    !isPlaceholder(value) &&
    !(basic !== undefined && isPlaceholder(Buffer.from(basic, 'base64').toString('latin1')))
  )
}

const holdsKey = (cookies: string, placements: readonly Placement[]) =>
  cookies.split(';').some((pair) => {
    const [name = '', ...value] = pair.trim().split('=')
    return placements.some((one) => one.in === 'cookie' && one.name === name) && isKey(value.join('='))
  })

function isInAddress(placement: Placement, { pathname, searchParams }: URL): boolean {
  if (placement.in === 'query')
    return [...searchParams].some(
      ([name, value]) => name.toLowerCase() === placement.name.toLowerCase() && isKey(value),
    )
  if (placement.in !== 'path') return false
  const { at, prefix = '' } = placement
  const segment = pathname.slice(1).split('/')[at]
  return segment?.startsWith(prefix) === true && isKey(segment.slice(prefix.length))
}

/** What is longer than it may be, or no form and no JSON, is refused all the same (room.ts). */
function isInBody(placement: Placement, body: Buffer): boolean {
  if (placement.in === 'form')
    return !holdsMoreFields(body, MAX_PLACED_ITEMS) && Array.from(valuesOf(body, placement.name)).some(isKey)
  return placement.in === 'json' && textsAt(body.toString(), [placement.pointer]).some(isKey)
}
