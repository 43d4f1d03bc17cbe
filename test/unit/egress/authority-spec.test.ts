import { afterEach, describe, expect, it, vi } from 'vitest'
import { loadConfig } from '../../../src/app/config.ts'
import { openAuthorities } from '../../../src/egress/adapters/key-services/open.ts'
import { createLogger } from '../../../src/lib/log.ts'
import { isServiceKid, parseAuthority } from '../../../src/egress/authority/spec.ts'

const AWS = 'arn:aws:kms:eu-central-1:111122223333:alias/agent-gateway'
const PKCS11 = 'pkcs11:token=t;object=o?module-path=/p11.so&pin-source=file:/etc/pin'
const GCP = 'projects/p/locations/europe-west3/keyRings/r/cryptoKeys/k'

afterEach(() => void vi.unstubAllEnvs())

describe('an authority in the configuration', () => {
  it.each([
    ['file', { kind: 'file' }],
    [`aws-kms:${AWS}`, { kind: 'aws-kms', key: AWS, region: 'eu-central-1' }],
    [
      'aws-kms:arn:aws-us-gov:kms:us-gov-west-1:111122223333:key/mrk-0123',
      {
        kind: 'aws-kms',
        key: 'arn:aws-us-gov:kms:us-gov-west-1:111122223333:key/mrk-0123',
        region: 'us-gov-west-1',
      },
    ],
    [`gcp-kms:${GCP}`, { kind: 'gcp-kms', key: GCP }],
    [
      'vault-transit:https://vault.example.com:8200/v1/team/transit/keys/agent-gateway',
      {
        kind: 'vault-transit',
        origin: 'https://vault.example.com:8200',
        mount: 'team/transit',
        key: 'agent-gateway',
      },
    ],
    [
      'pkcs11:token=My%20token;serial=0a;object=agent%2Cgateway;id=%01%ff;type=private?module-path=/usr/lib/p11.so&pin-source=file:/etc/pin',
      {
        kind: 'pkcs11',
        modulePath: '/usr/lib/p11.so',
        pinFile: '/etc/pin',
        token: { label: 'My token', serial: '0a' },
        key: { label: 'agent,gateway', id: '01ff' },
      },
    ],
    [
      'pkcs11:model=SoftHSM%20v2;manufacturer=S;id=%41?pin-source=file:///etc/pin&module-path=/p11.so',
      {
        kind: 'pkcs11',
        modulePath: '/p11.so',
        pinFile: '/etc/pin',
        token: { manufacturer: 'S', model: 'SoftHSM v2' },
        key: { id: '41' },
      },
    ],
  ])('%s is understood', (text, spec) => {
    expect(parseAuthority(text)).toEqual(spec)
  })

  it.each([
    ['file:/etc/key', 'GATEWAY_AUTHORITY_KEY_FILE'],
    ['aws-kms:alias/agent-gateway', 'takes the ARN'],
    ['aws-kms', 'takes the ARN'],
    [`gcp-kms:${GCP}/cryptoKeyVersions/1`, 'takes the name of a key'],
    ['vault-transit:http://vault.example.com/v1/transit/keys/k', 'takes the https URL'],
    ['vault-transit:https://user@vault.example.com/v1/transit/keys/k', 'takes the https URL'],
    ['vault-transit:https://vault.example.com/v1/transit/encrypt/k', 'takes the https URL'],
    ['vault-transit:https://vault.example.com/v1/transit/keys/a/../../sys', 'takes the https URL'],
    ['pkcs11', '`module-path=/…`'],
    [PKCS11.replace('module-path=/', 'module-path='), '`module-path=/…`'],
    [PKCS11.replace('file:/', ''), '`pin-source=file:/…`'],
    [PKCS11.replace('token=t;', ''), 'names a token'],
    [PKCS11.replace('object=o', 'type=private'), 'a key in it'],
    [PKCS11.replace('object=o', 'object=o;object=p'), 'takes a PKCS#11 URI'],
    [PKCS11.replace('object=o', 'object=%o'), 'takes a PKCS#11 URI'],
    [PKCS11.replace('object=o', 'object=o;x-vendor=1'), 'takes token, serial'],
    [PKCS11.replace('object=o', 'object=o;type=public'), 'takes token, serial'],
    [`${PKCS11}&pin-value=123456`, 'takes no `pin-value`'],
    ['azure', 'it is file, aws-kms, gcp-kms, vault-transit or pkcs11'],
  ])('%s is refused with what it takes', (text, words) => {
    expect(parseAuthority(text)).toContain(words)
    expect(() => loadConfig({ GATEWAY_AUTHORITY: `file,${text}` })).toThrow(/GATEWAY_AUTHORITY: entry 2: /)
  })

  it('is the key file unless something else is named, and Vault needs its token', () => {
    expect(loadConfig({}).authorities).toEqual([{ kind: 'file' }])
    expect(() =>
      loadConfig({ GATEWAY_AUTHORITY: 'vault-transit:https://v.example.com/v1/transit/keys/k' }),
    ).toThrow(/GATEWAY_VAULT_TOKEN_FILE/)
  })

  it('shows no PIN that stands in the configuration', () => {
    const load = () => loadConfig({ GATEWAY_AUTHORITY: `${PKCS11}&pin-value=8264` })
    expect(load).toThrow(/GATEWAY_AUTHORITY/)
    expect(load).not.toThrow(/8264/)
  })

  it('tells key ids of services from those of files', () => {
    for (const kid of [AWS, `${GCP}/cryptoKeyVersions/3`, 'vault-transit/transit/k:v1', 'pkcs11/k'])
      expect(isServiceKid(kid)).toBe(true)
    for (const kid of ['k1', 'NzbLsXh8uDCcd-6MNwXF4W_7noWXFZAfHkxZsRGC9Xs', 'arn'])
      expect(isServiceKid(kid)).toBe(false)
  })

  it('is refused at the start where no identity is found for it', async () => {
    vi.stubEnv('GOOGLE_APPLICATION_CREDENTIALS', '/nowhere/credentials.json')
    const open = openAuthorities({
      specs: [{ kind: 'gcp-kms', key: GCP }],
      file: '/nowhere',
      vaultTokenFile: undefined,
      vaultNamespace: undefined,
      sealedTo: [],
      known: { read: async () => ({ inUse: [], retired: [] }), listNeeded: async () => [] },
      log: createLogger('silent'),
      environment: {},
      now: Date.now,
    })
    await expect(open).rejects.toThrow(
      /GATEWAY_AUTHORITY: Google Cloud KMS .* does not let this gateway use the key/,
    )
  })
})
