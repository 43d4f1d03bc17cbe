import { z } from 'zod'
import { CredentialMetadata, SecretTexts, UpstreamSecret, credentialId } from '../schemas/egress.ts'
import { free } from '../src/core/price.ts'
import { readParts } from '../src/egress/placement/parts.ts'
import { defineTool } from './services.ts'

export const egressCredentialsRotate = defineTool({
  name: 'gateway.egress.credentials.rotate',
  toolset: 'operator',
  title: 'Replace a secret',
  summary:
    'Puts a new secret in the place of the old one and raises the version. Scope and capabilities stay; the next ' +
    'request uses the new secret. Where tokens are minted from a refresh token, `refresh_token` may be left out of `parts`: ' +
    'the newest one stays.',
  brief: 'Replaces the secret; scope and capabilities stay.',
  input: z.strictObject({
    credential_id: credentialId,
    secret: UpstreamSecret.optional(),
    parts: SecretTexts.optional(),
  }),
  output: CredentialMetadata,
  price: free,
  caller: 'operator',
  effects: { readOnly: false, destructive: true, idempotent: false, openWorld: false },
  rest: {
    method: 'POST',
    path: '/v1/egress/credentials/{credential_id}/rotate',
    operationId: 'rotateEgressCredential',
  },
  errors: ['key_required', 'credential_not_found', 'state_conflict', 'credential_unavailable'],
  examples: [
    {
      title: 'A new token',
      input: {
        credential_id: 'cred_0000000000000000000000000000000000',
        secret: 'replace-with-the-new-token',
      },
    },
  ],
  handle: async function egressCredentialsRotate({ credential_id, ...given }, { egress, caller }) {
    return egress.rotateCredential(caller.accountId, credential_id, readParts(given))
  },
})
