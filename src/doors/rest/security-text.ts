// `/.well-known/security.txt`: whom to tell of a vulnerability (RFC 9116).
import { GatewayError } from '../../core/errors.ts'
import type { DoorParts } from '../parts.ts'

const DAY_MS = 86_400_000
/** RFC 9116, section 2.5.5, wants less than a year. It is counted from the day it is read, so it never becomes stale. */
const VALID_DAYS = 180

/**
 * The text as it stands today.
 * @throws {GatewayError} not_found where the operator has named nobody
 */
export function securityText({
  config,
  addresses,
  now,
}: Pick<DoorParts, 'config' | 'addresses' | 'now'>): string {
  const { securityContacts } = config
  if (securityContacts.length === 0)
    throw new GatewayError(
      'not_found',
      'The operator of this gateway has named nobody (GATEWAY_SECURITY_CONTACT).',
    )
  const expires = new Date((Math.floor(now() / DAY_MS) + VALID_DAYS) * DAY_MS).toISOString()
  return [
    ...securityContacts.map((contact) => `Contact: ${contact}`),
    `Expires: ${expires}`,
    'Preferred-Languages: en',
    `Canonical: ${addresses.baseUrl}/.well-known/security.txt`,
    '',
  ].join('\n')
}
