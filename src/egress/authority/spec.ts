// How the configuration names the authorities: `file`, `aws-kms:<key>`, `gcp-kms:<key>`, `vault-transit:<URL of the key>`,
// `pkcs11:<attributes>`.

import type { AuthoritySpec } from '../../core/config.ts'
import { parsePkcs11 } from './pkcs11-uri.ts'

const AWS = /^arn:aws[\w-]*:kms:([a-z0-9-]+):\d{12}:(?:key|alias)\/[\w/-]+$/
const GCP = /^projects\/[\w:.-]+\/locations\/[\w-]+\/keyRings\/[\w-]+\/cryptoKeys\/[\w-]+$/
const VAULT_PATH = /^\/v1\/([\w/-]+)\/keys\/([\w.-]+)$/

/** Whether a key id is of a service: those of a key file are of any other form. */
export const isServiceKid = (kid: string) => /^(?:arn:|projects\/|vault-transit\/|pkcs11\/)/.test(kid)

/** @returns a sentence, where the text names no authority */
export function parseAuthority(text: string): AuthoritySpec | string {
  const at = text.indexOf(':')
  const [kind, name] = at < 0 ? [text, ''] : [text.slice(0, at), text.slice(at + 1)]
  switch (kind) {
    case 'file':
      return name === '' ? { kind } : '`file` takes no name: the file is GATEWAY_AUTHORITY_KEY_FILE'
    case 'aws-kms': {
      const [, region] = AWS.exec(name) ?? []
      return region === undefined
        ? '`aws-kms:` takes the ARN of a key or alias: aws-kms:arn:aws:kms:eu-central-1:111122223333:alias/agent-gateway'
        : { kind, key: name, region }
    }
    case 'gcp-kms':
      return GCP.test(name)
        ? { kind, key: name }
        : '`gcp-kms:` takes the name of a key: gcp-kms:projects/P/locations/L/keyRings/R/cryptoKeys/K'
    case 'vault-transit':
      return parseVault(name)
    case 'pkcs11': {
      const key = parsePkcs11(name)
      return typeof key === 'string' ? key : { kind, ...key }
    }
    default:
      return 'there is no such authority: it is file, aws-kms, gcp-kms, vault-transit or pkcs11. A comma in a name is %2C'
  }
}

function parseVault(name: string): AuthoritySpec | string {
  const url = URL.parse(name)
  const [, mount, key] = VAULT_PATH.exec(url?.pathname ?? '') ?? []
  if (url?.protocol !== 'https:' || mount === undefined || key === undefined || url.search || url.username)
    return '`vault-transit:` takes the https URL of a key: vault-transit:https://vault.example.com:8200/v1/transit/keys/agent-gateway'
  return { kind: 'vault-transit', origin: url.origin, mount, key }
}
