// AWS KMS, through its own client: a symmetric key, used with an encryption context. It needs kms:DescribeKey, kms:Encrypt and
// kms:Decrypt. Identity and endpoint are the client's own business: environment, profile, container or instance role.
import type { KMSClientConfig } from '@aws-sdk/client-kms'
import { KeyServiceError, type KeyService, type KeyServiceFailure } from '../../authority/key-service.ts'
import { TIMEOUT_MS } from './limits.ts'

/** Sent as base64 in the encryption context, which CloudTrail shows: it is a digest. */
const CONTEXT = 'agent-gateway'

const FAILURES: Readonly<Record<string, KeyServiceFailure>> = {
  AccessDeniedException: 'denied',
  UnrecognizedClientException: 'denied',
  InvalidSignatureException: 'denied',
  IncompleteSignature: 'denied',
  ExpiredTokenException: 'denied',
  CredentialsProviderError: 'denied',
  InvalidClientTokenId: 'denied',
  NotFoundException: 'key_missing',
  DisabledException: 'key_missing',
  KMSInvalidStateException: 'key_missing',
  InvalidKeyUsageException: 'key_missing',
  InvalidArnException: 'key_missing',
  InvalidCiphertextException: 'refused',
  IncorrectKeyException: 'refused',
}

/**
 * @param options.key ARN of a key, or of an alias: pointing the alias at another key is how the key is rotated
 * @throws where `@aws-sdk/client-kms` is not installed
 */
export async function openAwsKms(options: {
  readonly key: string
  readonly region: string
  readonly client?: KMSClientConfig
}): Promise<KeyService> {
  const { KMSClient, DescribeKeyCommand, EncryptCommand, DecryptCommand } =
    await import('@aws-sdk/client-kms')
  const { key, region } = options
  const client = new KMSClient({
    region,
    maxAttempts: 2,
    requestHandler: {
      requestTimeout: TIMEOUT_MS,
      throwOnRequestTimeout: true,
      connectionTimeout: TIMEOUT_MS,
    },
    ...options.client,
  })
  const name = `AWS KMS (${key})`
  // A key of another account or region than the one that is configured is somebody else's.
  const ownKeys = `${key.split(':').slice(0, 5).join(':')}:key/`

  async function ask<T>(step: () => Promise<T>): Promise<T> {
    try {
      return await step()
    } catch (thrown) {
      const code = thrown instanceof Error ? thrown.name : 'unknown'
      throw new KeyServiceError(FAILURES[code] ?? 'unreachable', name, code)
    }
  }
  const contextOf = (aad: Buffer) => ({ [CONTEXT]: aad.toString('base64') })
  const bytesOf = (bytes: Uint8Array | undefined): Buffer => {
    if (!bytes) throw new KeyServiceError('unreachable', name, 'an answer without bytes')
    return Buffer.from(bytes)
  }

  return {
    name,
    owns: (kid) => kid.startsWith(ownKeys),
    async newest() {
      const { KeyMetadata } = await ask(() => client.send(new DescribeKeyCommand({ KeyId: key })))
      if (
        !KeyMetadata?.Arn ||
        KeyMetadata.KeyUsage !== 'ENCRYPT_DECRYPT' ||
        KeyMetadata.KeySpec !== 'SYMMETRIC_DEFAULT'
      )
        throw new KeyServiceError('key_missing', name, 'it must be a symmetric key for encryption')
      return KeyMetadata.Arn
    },
    async encrypt(kid, plaintext, aad) {
      const command = new EncryptCommand({
        KeyId: kid,
        Plaintext: plaintext,
        EncryptionContext: contextOf(aad),
      })
      return bytesOf((await ask(() => client.send(command))).CiphertextBlob)
    },
    async decrypt(kid, ciphertext, aad) {
      const command = new DecryptCommand({
        KeyId: kid,
        CiphertextBlob: ciphertext,
        EncryptionContext: contextOf(aad),
      })
      return bytesOf((await ask(() => client.send(command))).Plaintext)
    },
    close: async () => client.destroy(),
  }
}
