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
    return {
      capability: await capabilityFor(held, { url: target.url, method, isOfProgram: true }),
      url: target.url,
    }
  const { credentialId } = held
  const parts =
    credentialId === null ? (held.parts ?? (await store.findParts(held.id))) : [{ ...held, credentialId }]
  const labelled = await Promise.all(
    parts.map(async (capability) => ({
      capability,
      label: (await store.getCredential(capability.credentialId, held.accountId))?.label ?? '',
    })),
  )
  const [found, another] = findNamed(labelled, target.credential)
  if (found && another)
    throw new GatewayError(
      'target_invalid',
      `This capability opens ${found.credentialId} and ${another.credentialId}, and both go by this name. Give the id of the one that is meant.`,
      { reason: 'ambiguous_credential' },
    )
  const host = found?.scope.hosts[0]
  if (found && host !== undefined) return { capability: found, url: `https://${host}${target.path}` }
  throw new GatewayError(
    'not_found',
    'This capability opens no credential of this name. Give the label or the id of the one that it was issued on.',
    { reason: 'no_such_credential' },
  )
}

/** By id, else by the label as it is written, else as it reads in an address: `OpenAI (prod)` is `openai-prod`. */
function findNamed(
  labelled: readonly { readonly capability: CredentialCapability; readonly label: string }[],
  named: string,
): readonly CredentialCapability[] {
  const ways: readonly ((one: (typeof labelled)[number]) => boolean)[] = [
    ({ capability }) => capability.credentialId === named,
    ({ label }) => label === named,
    ({ label }) => label !== '' && toSlug(label) === named,
  ]
  const found = ways.map((isNamed) => labelled.filter(isNamed)).find(({ length }) => length > 0)
  return found?.map(({ capability }) => capability) ?? []
}

const toSlug = (label: string) =>
  label
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-')
    .replaceAll(/^-|-$/g, '')
