// A permit in the sandbox: prepared for one request, executed once, refused the second time.
import { randomBytes } from 'node:crypto'
import { actionsExecute } from '../../../tools/actions-execute.ts'
import { actionsPrepare } from '../../../tools/actions-prepare.ts'
import { egressCredentialsCreate } from '../../../tools/egress-credentials-create.ts'
import { egressCredentialsRevoke } from '../../../tools/egress-credentials-revoke.ts'
import { SANDBOX_HOST } from '../../egress/target.ts'
import type { Client } from '../client.ts'
import { CommandFailure, Exit } from '../exit.ts'

export interface PermitStep {
  readonly permit: string
  readonly attempt: string
  readonly status: number
  readonly credits: number
  readonly receipt: string
  readonly jws: string
  /** Code of the refusal of the second execution, and the attempt that it names. */
  readonly repeated: { readonly code: string; readonly attempt: string }
}

const REQUEST = {
  url: `https://${SANDBOX_HOST}/api/whoami`,
  method: 'POST',
  headers: { 'content-type': 'application/json' },
  body: '{"order":"green tea"}',
} as const
const MANDATE_MS = 3_600_000

/** @throws {CommandFailure} also when the second execution is not refused */
export async function usePermit(gateway: Client): Promise<PermitStep> {
  const { credential_id } = await gateway.call(egressCredentialsCreate, {
    provider: 'custom',
    label: 'demo',
    secret: randomBytes(24).toString('base64url'),
    hosts: [SANDBOX_HOST],
    path_prefixes: ['/api'],
    methods: ['POST'],
  })
  try {
    const { permit, permit_id } = await gateway.call(actionsPrepare, {
      credential_id,
      request: REQUEST,
      mandate: {
        purpose: 'Show what a permit is',
        credential_id,
        host: SANDBOX_HOST,
        path_prefix: '/api/whoami',
        methods: ['POST'],
        max_calls: 1,
        expires_at: new Date(Date.now() + MANDATE_MS).toISOString(),
      },
    })
    // A holder of the permit needs no key.
    const execute = () => gateway.call(actionsExecute, { permit, request: REQUEST }, null)
    const { attempt_id, upstream, credits, receipt } = await execute()
    return {
      permit: permit_id,
      attempt: attempt_id,
      status: upstream.status,
      credits: credits.charged,
      receipt: receipt.receipt_id,
      // Over REST every receipt comes with its signature.
      jws: receipt.jws ?? '',
      repeated: await refusalOf(execute),
    }
  } finally {
    await gateway.call(egressCredentialsRevoke, { credential_id })
  }
}

async function refusalOf(execute: () => Promise<unknown>): Promise<PermitStep['repeated']> {
  try {
    await execute()
  } catch (thrown) {
    if (!(thrown instanceof CommandFailure) || thrown.problem === undefined) throw thrown
    return { code: String(thrown.problem['code']), attempt: String(thrown.problem['attempt_id']) }
  }
  throw new CommandFailure(Exit.failed, 'A permit was executed twice.')
}
