// Which capability, and so which credential, a request of a program goes out on; and where to. A base URL names the credential: it is
// looked for among what the capability may use, and nowhere else, so that nobody learns which others there are.
import { GatewayError } from '../../core/errors.ts'
import type { HttpExchange } from '../../core/message.ts'
import type { CredentialCapability, HeldCapability, Store } from '../../store/ports.ts'
import type { Egress } from '../ports.ts'

export interface Addressed {
  readonly capability: CredentialCapability
  /** Absolute, in the program's spelling. */
  readonly url: string
}

export interface AddressParts {
  readonly store: Pick<Store, 'getCredential' | 'findParts'>
  readonly capabilityFor: Egress['capabilityFor']
}

/** @throws {GatewayError} not_found where the capability has no such credential; scope_denied where a connection has none for the URL */
export async function addressOf(
  { store, capabilityFor }: AddressParts,
  { target, method }: Pick<HttpExchange, 'target' | 'method'>,
  held: HeldCapability,
): Promise<Addressed> {
  if ('url' in target)
    return { capability: await capabilityFor(held, { url: target.url, method }), url: target.url }
  const { credentialId } = held
  const parts =
    credentialId === null ? (held.parts ?? (await store.findParts(held.id))) : [{ ...held, credentialId }]
  for (const capability of parts) {
    const [host] = capability.scope.hosts
    const isNamed =
      capability.credentialId === target.credential ||
      isLabel((await store.getCredential(capability.credentialId, held.accountId))?.label, target.credential)
    if (host !== undefined && isNamed) return { capability, url: `https://${host}${target.path}` }
  }
  throw new GatewayError(
    'not_found',
    'This capability opens no credential of this name. Give the label or the id of the one that it was issued on.',
    { reason: 'no_such_credential' },
  )
}

/** A label as it is written, or as it reads in an address: `OpenAI (prod)` is `openai-prod`. */
const isLabel = (label: string | undefined, named: string) =>
  label !== undefined && (label === named || toSlug(label) === named)

const toSlug = (label: string) =>
  label
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-')
    .replaceAll(/^-|-$/g, '')
