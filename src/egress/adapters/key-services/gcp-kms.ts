// Google Cloud KMS, through its own client over REST: a symmetric key, used with additional authenticated data. It needs
// cloudkms.cryptoKeys.get and the role of an encrypter and decrypter. Identity is the client's own business: application default
// credentials.
import { type KeyService, KeyServiceError, type KeyServiceFailure } from '../../authority/key-service.ts'
import { crc32c } from '../../../lib/crc32c.ts'
import { TIMEOUT_MS } from './limits.ts'

/** Codes of google.rpc.Code. */
const FAILURES: Readonly<Record<number, KeyServiceFailure>> = {
  3: 'refused', // INVALID_ARGUMENT: what decryption says of bytes or additional data that do not belong together
  5: 'key_missing', // NOT_FOUND
  7: 'denied', // PERMISSION_DENIED
  9: 'key_missing', // FAILED_PRECONDITION: the version is disabled or destroyed
  16: 'denied', // UNAUTHENTICATED
}

type Options = ConstructorParameters<typeof import('@google-cloud/kms').KeyManagementServiceClient>[0]

/** One try and no more than the time that an attempt may wait. */
const CALL = { timeout: TIMEOUT_MS, maxRetries: 1 }

/**
 * @param options.key resource name of the CryptoKey; its primary version wraps, and older ones open what they wrapped
 * @throws {KeyServiceError} where no credentials are found
 * @throws where `@google-cloud/kms` is not installed
 */
export async function openGcpKms(options: {
  readonly key: string
  readonly client?: Options
}): Promise<KeyService> {
  const { KeyManagementServiceClient } = await import('@google-cloud/kms')
  const client = new KeyManagementServiceClient({ fallback: true, ...options.client })
  const { key } = options
  const name = `Google Cloud KMS (${key})`
  const versions = `${key}/cryptoKeyVersions/`

  // Every call would begin with this, and leave a rejection that nobody handles where it fails.
  try {
    await client.initialize()
  } catch {
    throw new KeyServiceError('denied', name, 'no application default credentials')
  }

  async function ask<T>(step: () => Promise<T>): Promise<T> {
    try {
      return await step()
    } catch (thrown) {
      const { code } = thrown as { readonly code?: unknown }
      const failure = typeof code === 'number' ? FAILURES[code] : undefined
      throw new KeyServiceError(failure ?? 'unreachable', name, `code ${String(code)}`)
    }
  }

  /** The bytes as the service has them: a flipped bit on the way is noticed on either side. */
  function checked(
    bytes: string | Uint8Array | null | undefined,
    crc: { value?: unknown } | null | undefined,
  ): Buffer {
    const got = typeof bytes === 'string' ? Buffer.from(bytes, 'base64') : Buffer.from(bytes ?? [])
    if (Number(crc?.value) !== crc32c(got))
      throw new KeyServiceError('unreachable', name, 'an answer with a wrong checksum')
    return got
  }

  return {
    name,
    owns: (kid) => kid.startsWith(versions) && /^\d+$/.test(kid.slice(versions.length)),
    async newest() {
      const [{ primary, purpose }] = await ask(() => client.getCryptoKey({ name: key }, CALL))
      if (!primary?.name || (purpose !== 'ENCRYPT_DECRYPT' && purpose !== 1))
        throw new KeyServiceError('key_missing', name, 'it must be a symmetric key with a primary version')
      return primary.name
    },
    async encrypt(kid, plaintext, aad) {
      const [answer] = await ask(() =>
        client.encrypt(
          {
            name: kid,
            plaintext,
            plaintextCrc32c: { value: crc32c(plaintext) },
            additionalAuthenticatedData: aad,
            additionalAuthenticatedDataCrc32c: { value: crc32c(aad) },
          },
          CALL,
        ),
      )
      if (
        answer.name !== kid ||
        !answer.verifiedPlaintextCrc32c ||
        !answer.verifiedAdditionalAuthenticatedDataCrc32c
      )
        throw new KeyServiceError('unreachable', name, 'the request was changed on its way')
      return checked(answer.ciphertext, answer.ciphertextCrc32c)
    },
    async decrypt(_kid, ciphertext, aad) {
      const [answer] = await ask(() =>
        client.decrypt(
          {
            name: key,
            ciphertext,
            ciphertextCrc32c: { value: crc32c(ciphertext) },
            additionalAuthenticatedData: aad,
            additionalAuthenticatedDataCrc32c: { value: crc32c(aad) },
          },
          CALL,
        ),
      )
      return checked(answer.plaintext, answer.plaintextCrc32c)
    },
    close: () => client.close(),
  }
}
