// Transaction A of an execution: the permit becomes this attempt, and the attempt is paid for.
import { perEngine } from '../command.ts'
import type { ActionResult } from '../ports/actions.ts'
import type { Reservation } from './attempts.ts'

/**
 * Transaction A of an execution: the permit is `ready` and unexpired and becomes `executed` by this attempt
 * (`attempt.permitId`); its mandate is unrevoked; the credential is unrevoked and at `credentialVersion`; the account pays
 * `cost` (kind `action`); the attempt appears as it is given. A permit is not used up by what is refused here.
 */
export const reserveAction = perEngine<[input: Reservation], ActionResult>({
  kind: 'transaction',
  touches: 'records',
  startsWork: true,
})
