// A permit that is still open depends on time, its mandate, and its credential at the version it was prepared for.
import type { Credential, Mandate, Permit, Store } from '../store/ports.ts'
import type { RevokedBy } from './refusals.ts'

/** Whether the permit can still come to be executed, its time aside. */
export const isOpen = ({ state }: Pick<Permit, 'state'>) => state === 'ready' || state === 'pending_approval'

/** Whether the permit's time is over; `now` and `expiresAt` are milliseconds. */
export const isPast = (permit: Pick<Permit, 'state' | 'expiresAt'>, now: number) =>
  permit.state === 'expired' || (isOpen(permit) && permit.expiresAt <= now)

/** The mandate and the credential of a permit as they stand now. */
export interface PermitDependencies {
  readonly mandate: Pick<Mandate, 'revokedAt'> | undefined
  readonly credential: Pick<Credential, 'revokedAt' | 'version'> | undefined
}

/** @returns why a permit that nobody used or refused does not hold any more; undefined where it does */
export function findRevocation(
  permit: Pick<Permit, 'credentialVersion'>,
  { mandate, credential }: PermitDependencies,
): RevokedBy | undefined {
  if (!mandate || mandate.revokedAt !== null) return 'mandate_revoked'
  if (!credential || credential.revokedAt !== null) return 'credential_revoked'
  return credential.version === permit.credentialVersion ? undefined : 'credential_rotated'
}

/** Asks for each mandate and credential of these permits once, and for none of those that are closed. */
export async function readDependencies(
  store: Pick<Store, 'getMandate' | 'getCredential'>,
  accountId: string,
  permits: readonly Permit[],
): Promise<(permit: Permit) => PermitDependencies> {
  const open = permits.filter(isOpen)
  const readAll = async <T>(ids: readonly string[], read: (id: string) => Promise<T>) =>
    new Map(await Promise.all([...new Set(ids)].map(async (id) => [id, await read(id)] as const)))
  const [mandates, credentials] = await Promise.all([
    readAll(
      open.map(({ mandateId }) => mandateId),
      (id) => store.getMandate(id, accountId),
    ),
    readAll(
      open.map(({ credentialId }) => credentialId),
      (id) => store.getCredential(id, accountId),
    ),
  ])
  return ({ mandateId, credentialId }) => ({
    mandate: mandates.get(mandateId),
    credential: credentials.get(credentialId),
  })
}
