// Key services on loopback, over TLS, that speak the protocols of AWS KMS, Google Cloud KMS and Vault transit as far as the gateway
// uses them. Keys, ciphertexts, identities and failures are real within them; nothing else of the services is.
import {
  createCipheriv,
  createDecipheriv,
  createHash,
  createHmac,
  generateKeyPairSync,
  type KeyObject,
  randomBytes,
  randomUUID,
  verify,
} from 'node:crypto'
import type { IncomingHttpHeaders, ServerResponse } from 'node:http'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { crc32c } from '../../src/lib/crc32c.ts'
import type { TestCa } from './ca.ts'

export interface FakeService {
  readonly port: number
  readonly url: string
  /** Requests that were answered, as `Encrypt` or `POST /v1/…`. */
  readonly asked: string[]
  /** Everything that was received, for a search of what must not be there. */
  readonly received: string[]
  /** Answers nothing from now on: the connection is cut; or answers again. */
  setAway(isAway: boolean): void
  /** Takes requests from now on without answering them. @returns what answers them, and later ones, again */
  hold(): () => void
  close(): Promise<void>
}

interface Asked {
  readonly method: string
  readonly path: string
  readonly headers: IncomingHttpHeaders
  readonly body: string
}
type Answer = readonly [status: number, body: unknown]

async function startService(
  ca: TestCa,
  contentType: string,
  nameOf: (asked: Asked) => string,
  answer: (asked: Asked) => Answer,
): Promise<FakeService> {
  const asked: string[] = []
  const received: string[] = []
  let isAway = false
  let held = Promise.resolve()
  const { key, cert } = await ca.leaf('localhost', '127.0.0.1')
  const server = createServer({ key, cert }, async (req, res: ServerResponse) => {
    if (isAway) return void req.socket.destroy()
    const chunks: Buffer[] = []
    for await (const chunk of req) chunks.push(chunk as Buffer)
    const request = {
      method: req.method ?? '',
      path: req.url ?? '',
      headers: req.headers,
      body: Buffer.concat(chunks).toString(),
    }
    asked.push(nameOf(request))
    received.push(request.body)
    await held
    const [status, body] = answer(request)
    res.writeHead(status, { 'content-type': contentType }).end(JSON.stringify(body))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return {
    port,
    url: `https://localhost:${port}`,
    asked,
    received,
    setAway: (away) => void (isAway = away),
    hold() {
      const { promise, resolve } = Promise.withResolvers<void>()
      held = promise
      return resolve
    },
    async close() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

/** One version of a key. */
interface Material {
  readonly bytes: Buffer
  isEnabled: boolean
}
const newMaterial = (): Material => ({ bytes: randomBytes(32), isEnabled: true })

function encrypt({ bytes }: Material, plaintext: Buffer, aad: Buffer): Buffer {
  const iv = randomBytes(12)
  const cipher = createCipheriv('aes-256-gcm', bytes, iv).setAAD(aad)
  return Buffer.concat([iv, cipher.update(plaintext), cipher.final(), cipher.getAuthTag()])
}

/** @returns undefined where key, bytes and additional data do not belong together */
function decrypt({ bytes }: Material, sealed: Buffer, aad: Buffer): Buffer | undefined {
  try {
    const decipher = createDecipheriv('aes-256-gcm', bytes, sealed.subarray(0, 12))
      .setAAD(aad)
      .setAuthTag(sealed.subarray(-16))
    return Buffer.concat([decipher.update(sealed.subarray(12, -16)), decipher.final()])
  } catch {
    return undefined
  }
}

const base64 = (text: unknown) => Buffer.from(typeof text === 'string' ? text : '', 'base64')

export interface FakeAwsKms extends FakeService {
  readonly accessKey: { readonly accessKeyId: string; readonly secretAccessKey: string }
  /** ARN of the alias that is configured. */
  readonly alias: string
  /** Points the alias at a new key. @returns the ARN of the key */
  rotate(): string
  disable(arn: string): void
  /** Refuses an operation by the policy of the key. */
  deny(operation: string): void
}

const AWS_REGION = 'eu-central-1'

/** AWS KMS, JSON 1.1; signatures (version 4) are verified. */
export async function startAwsKms(ca: TestCa): Promise<FakeAwsKms> {
  const accessKey = { accessKeyId: 'AKIAFAKE', secretAccessKey: randomBytes(20).toString('hex') }
  const prefix = `arn:aws:kms:${AWS_REGION}:111122223333`
  const alias = `${prefix}:alias/agent-gateway`
  const keys = new Map<string, Material>()
  const denied = new Set<string>()
  let aliased = ''
  const rotate = () => {
    aliased = `${prefix}:key/${randomUUID()}`
    keys.set(aliased, newMaterial())
    return aliased
  }
  rotate()
  const fail = (type: string): Answer => [400, { __type: type, message: `${type} by the test` }]
  const operationOf = ({ headers }: Asked) => String(headers['x-amz-target']).replace('TrentService.', '')

  const service = await startService(ca, 'application/x-amz-json-1.1', operationOf, (asked) => {
    if (!isSigned(asked, accessKey)) return fail('InvalidSignatureException')
    const operation = operationOf(asked)
    if (denied.has(operation)) return fail('AccessDeniedException')
    const input = JSON.parse(asked.body) as Record<string, unknown>
    const arn = input['KeyId'] === alias ? aliased : String(input['KeyId'])
    const key = keys.get(arn)
    if (!key) return fail('NotFoundException')
    if (operation === 'DescribeKey')
      return [
        200,
        {
          KeyMetadata: {
            Arn: arn,
            KeyId: arn.split('/').at(-1),
            KeyUsage: 'ENCRYPT_DECRYPT',
            KeySpec: 'SYMMETRIC_DEFAULT',
            Enabled: key.isEnabled,
          },
        },
      ]
    if (!key.isEnabled) return fail('DisabledException')
    const context = Buffer.from(JSON.stringify(input['EncryptionContext'] ?? {}))
    if (operation === 'Encrypt') {
      const id = Buffer.from(arn.padEnd(128))
      const sealed = encrypt(key, base64(input['Plaintext']), context)
      return [200, { KeyId: arn, CiphertextBlob: Buffer.concat([id, sealed]).toString('base64') }]
    }
    const blob = base64(input['CiphertextBlob'])
    if (blob.subarray(0, 128).toString().trim() !== arn) return fail('IncorrectKeyException')
    const plaintext = decrypt(key, blob.subarray(128), context)
    if (!plaintext) return fail('InvalidCiphertextException')
    return [200, { KeyId: arn, Plaintext: plaintext.toString('base64') }]
  })
  return {
    ...service,
    accessKey,
    alias,
    rotate,
    deny: (operation) => void denied.add(operation),
    disable(arn) {
      const key = keys.get(arn)
      if (key) key.isEnabled = false
    },
  }
}

/** Signature Version 4, as AWS documents it. */
function isSigned({ method, path, headers, body }: Asked, key: FakeAwsKms['accessKey']): boolean {
  const match =
    /^AWS4-HMAC-SHA256 Credential=(\w+)\/(\d{8})\/([\w-]+)\/kms\/aws4_request, SignedHeaders=([\w;-]+), Signature=(\w+)$/.exec(
      headers.authorization ?? '',
    )
  if (!match) return false
  const [, id, day = '', region = '', signed = '', signature] = match
  const sha256 = (text: string) => createHash('sha256').update(text).digest('hex')
  const hmac = (secret: string | Buffer, text: string) => createHmac('sha256', secret).update(text).digest()
  const lines = signed.split(';').map((name) => `${name}:${String(headers[name]).trim()}\n`)
  const canonical = [method, path, '', lines.join(''), signed, sha256(body)].join('\n')
  const scope = `${day}/${region}/kms/aws4_request`
  const text = ['AWS4-HMAC-SHA256', headers['x-amz-date'], scope, sha256(canonical)].join('\n')
  const signingKey = [day, region, 'kms', 'aws4_request'].reduce<Buffer>(
    (secret, part) => hmac(secret, part),
    Buffer.from(`AWS4${key.secretAccessKey}`),
  )
  return (
    id === key.accessKeyId && region === AWS_REGION && hmac(signingKey, text).toString('hex') === signature
  )
}

export interface FakeGcpKms extends FakeService {
  /** Resource name of the key, and the service account that may use it. */
  readonly key: string
  readonly account: { readonly client_email: string; readonly private_key: string }
  /** Makes a version and makes it primary. @returns its name */
  rotate(): string
  disable(version: string): void
  deny(verb: 'encrypt' | 'decrypt' | 'get'): void
  /** Sends checksums that do not belong to the bytes. */
  setCorrupting(isCorrupting: boolean): void
}

/** Google Cloud KMS, REST. */
export async function startGcpKms(ca: TestCa): Promise<FakeGcpKms> {
  const key = 'projects/p/locations/europe-west3/keyRings/r/cryptoKeys/k'
  const pair = generateKeyPairSync('rsa', { modulusLength: 2048 })
  const account = {
    client_email: 'gateway@p.iam.gserviceaccount.com',
    private_key: pair.privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
  }
  const versions: Material[] = []
  const denied = new Set<string>()
  let isCorrupting = false
  const nameOf = (at: number) => `${key}/cryptoKeyVersions/${at + 1}`
  const rotate = () => nameOf(versions.push(newMaterial()) - 1)
  rotate()
  const fail = (code: number, status: string): Answer => [
    code,
    { error: { code, status, message: `${status} by the test` } },
  ]
  const crcOf = (bytes: Buffer) => String(isCorrupting ? 7 : crc32c(bytes))

  const service = await startService(
    ca,
    'application/json',
    ({ method, path }) => `${method} ${path.replace(/\?.*/, '')}`,
    ({ method, path, headers, body }) => {
      if (!isIssuedBy(account.client_email, pair.publicKey, headers.authorization))
        return fail(401, 'UNAUTHENTICATED')
      const [, name = '', verb = 'get'] = /^\/v1\/([^:?]+)(?::(\w+))?/.exec(path) ?? []
      if (denied.has(verb)) return fail(403, 'PERMISSION_DENIED')
      if (name !== key && !name.startsWith(`${key}/`)) return fail(404, 'NOT_FOUND')
      if (method === 'GET')
        return [
          200,
          { name: key, purpose: 'ENCRYPT_DECRYPT', primary: { name: nameOf(versions.length - 1) } },
        ]
      const input = JSON.parse(body) as Record<string, string>
      const aad = base64(input['additionalAuthenticatedData'])
      if (Number(input['additionalAuthenticatedDataCrc32c']) !== crc32c(aad))
        return fail(400, 'INVALID_ARGUMENT')
      if (verb === 'encrypt') {
        const at = versions.findIndex((_, i) => nameOf(i) === name)
        const version = versions[at]
        if (!version) return fail(404, 'NOT_FOUND')
        if (!version.isEnabled) return fail(400, 'FAILED_PRECONDITION')
        const sealed = Buffer.concat([Buffer.from([at]), encrypt(version, base64(input['plaintext']), aad)])
        return [
          200,
          {
            name,
            ciphertext: sealed.toString('base64'),
            ciphertextCrc32c: crcOf(sealed),
            verifiedPlaintextCrc32c: true,
            verifiedAdditionalAuthenticatedDataCrc32c: true,
          },
        ]
      }
      const sealed = base64(input['ciphertext'])
      const version = versions[sealed[0] ?? -1]
      if (version && !version.isEnabled) return fail(400, 'FAILED_PRECONDITION')
      const plaintext = version && decrypt(version, sealed.subarray(1), aad)
      if (!plaintext) return fail(400, 'INVALID_ARGUMENT')
      return [200, { plaintext: plaintext.toString('base64'), plaintextCrc32c: crcOf(plaintext) }]
    },
  )
  return {
    ...service,
    key,
    account,
    rotate,
    deny: (verb) => void denied.add(verb),
    setCorrupting: (corrupts) => void (isCorrupting = corrupts),
    disable(name) {
      const version = versions.find((_, i) => nameOf(i) === name)
      if (version) version.isEnabled = false
    },
  }
}

/** A token that a service account signs for itself (RFC 7519, RS256). */
function isIssuedBy(email: string, key: KeyObject, authorization = ''): boolean {
  const [, head, claims, signature] = /^Bearer ([\w-]+)\.([\w-]+)\.([\w-]+)$/.exec(authorization) ?? []
  if (head === undefined || claims === undefined || signature === undefined) return false
  const { iss, exp } = JSON.parse(Buffer.from(claims, 'base64url').toString()) as { iss: string; exp: number }
  const isSigned = verify(
    'sha256',
    Buffer.from(`${head}.${claims}`),
    key,
    Buffer.from(signature, 'base64url'),
  )
  return isSigned && iss === email && exp * 1000 > Date.now()
}

export interface FakeVault extends FakeService {
  /** What the configuration names: the URL of the key. */
  readonly keyUrl: string
  readonly token: string
  rotate(): void
  /** The lowest version that decryption may use. */
  setMinimum(version: number): void
  setSealed(isSealed: boolean): void
  /** A path that the policy of the token does not allow, e.g. `decrypt`; none of them again. */
  deny(verb: string): void
  allow(): void
}

/** Vault's transit engine, of type aes256-gcm96. */
export async function startVault(ca: TestCa): Promise<FakeVault> {
  const token = `hvs.${randomBytes(20).toString('hex')}`
  const versions = [newMaterial()]
  const denied = new Set<string>()
  let minimum = 1
  let isSealed = false
  const fail = (status: number, ...errors: string[]): Answer => [status, { errors }]

  const service = await startService(
    ca,
    'application/json',
    ({ method, path }) => `${method} ${path}`,
    ({ method, path, headers, body }) => {
      if (isSealed) return fail(503, 'Vault is sealed')
      if (headers['x-vault-token'] !== token) return fail(403, 'permission denied')
      const [, verb = '', name] = /^\/v1\/transit\/(\w+)\/([\w-]+)$/.exec(path) ?? []
      if (denied.has(verb)) return fail(403, '1 error occurred:\n\t* permission denied\n\n')
      if (method === 'GET' && verb === 'keys')
        return name === 'agent-gateway'
          ? [200, { data: { name, type: 'aes256-gcm96', latest_version: versions.length } }]
          : fail(404)
      const input = JSON.parse(body) as Record<string, string | number>
      const aad = base64(input['associated_data'])
      if (verb === 'encrypt') {
        const number = Number(input['key_version'] ?? versions.length)
        const version = versions[number - 1]
        if (!version)
          return fail(400, 'requested version for encryption is higher than the latest key version')
        const sealed = encrypt(version, base64(input['plaintext']), aad).toString('base64')
        return [200, { data: { ciphertext: `vault:v${number}:${sealed}`, key_version: number } }]
      }
      const [, number = '', sealed] = /^vault:v(\d+):(.+)$/.exec(String(input['ciphertext'])) ?? []
      const version = versions[Number(number) - 1]
      if (!version) return fail(400, 'invalid ciphertext: version is too new')
      if (Number(number) < minimum)
        return fail(400, 'ciphertext or signature version is disallowed by policy (too old)')
      const plaintext = decrypt(version, base64(sealed), aad)
      if (!plaintext) return fail(400, 'cipher: message authentication failed')
      return [200, { data: { plaintext: plaintext.toString('base64') } }]
    },
  )
  return {
    ...service,
    token,
    keyUrl: `${service.url}/v1/transit/keys/agent-gateway`,
    rotate: () => void versions.push(newMaterial()),
    setMinimum: (version) => void (minimum = version),
    setSealed: (sealed) => void (isSealed = sealed),
    deny: (verb) => void denied.add(verb),
    allow: () => denied.clear(),
  }
}
