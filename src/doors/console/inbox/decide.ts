// What the buttons of the inbox do: the tool, in the name of the person, for the request that they saw.
import type { PermitRecord } from '../../../../schemas/actions.ts'
import { GatewayError } from '../../../core/errors.ts'
import type { ActionResult, SignedInRequest } from '../ports.ts'

type Act = (form: URLSearchParams, request: SignedInRequest) => Promise<ActionResult<never>>

/** @param back the page that says what was done */
export const decideFrom = (
  back: (permitId: string) => string,
): Readonly<Record<'approve' | 'refuse', Act>> => ({
  async approve(form, request) {
    const permitId = form.get('permit_id') ?? ''
    await checkSeen(form, request)
    const { state } = (await request.call('gateway.actions.approve', { permit_id: permitId })) as PermitRecord
    return { goTo: `${back(permitId)}?done=${state === 'pending_approval' ? 'added' : 'approved'}` }
  },
  async refuse(form, request) {
    const permitId = form.get('permit_id') ?? ''
    await request.call('gateway.actions.refuse', { permit_id: permitId })
    return { goTo: `${back(permitId)}?done=refused` }
  },
})

/** The yes is for what the page showed, whatever id a form was given. @throws {GatewayError} */
async function checkSeen(form: URLSearchParams, { call }: SignedInRequest): Promise<void> {
  const permit = (await call('gateway.actions.permits.get', {
    permit_id: form.get('permit_id') ?? '',
  })) as PermitRecord
  if (permit.request_digest !== form.get('request_digest'))
    throw new GatewayError(
      'state_conflict',
      'This is not the request that the page showed. Load it again, and read it.',
    )
}
