// A paid skill as a task: asks for the payment, keeps the task while it is not paid, and lets the result go once it is settled.
import { noteLimits } from '../http/reply.ts'
import type { SettleResponse } from '../../../schemas/x402.ts'
import { GatewayError } from '../../core/errors.ts'
import { paymentFactsOf, type PaidResult } from '../../core/charging.ts'
import type { Caller } from '../../core/caller.ts'
import type { KnownTask } from './task-store.ts'
import { challengeText, paymentErrorCode, paymentMetadata, receiptsOf, requiredOf } from './x402-metadata.ts'
import { formFor, requiredIn } from './x402-form.ts'
import { unpaidCall } from './unpaid-call.ts'
import {
  answerPart,
  completed,
  type Outcome,
  problemParts,
  progressText,
  requestOf,
  type ToolWorkParts,
  type Work,
} from './work.ts'
import { dataPart, textPart, type WirePart } from './wire.ts'

/** @param parts.resumed the task that waited for this payment */
export function paidWork(parts: ToolWorkParts & { readonly resumed: KnownTask | undefined }): Work {
  const { calls, call, skill, input, asText, wantsSignatures, submission, resumed } = parts
  const form = formFor(call.extensions, resumed?.task)
  const unpaid = unpaidCall(skill, input, asText)
  const receipts = receiptsOf(resumed?.task)

  function paid(output: WirePart, { settlement }: PaidResult): Outcome & { kind: 'ended' } {
    return {
      ...completed(skill, output),
      parts: [textPart('Paid and settled. The result is in the artifact, its receipt in it.')],
      metadata: paymentMetadata('payment-completed', form, { receipts: [...receipts, settlement] }),
    }
  }

  /** Unpaid still: the task waits (on) for a payment. */
  function challenged(error: GatewayError, caller: Caller | undefined): Outcome {
    const { challenge, settlement } = paymentFactsOf(error)
    const isAnswer = submission.payment !== undefined
    return {
      kind: 'ended',
      state: 'TASK_STATE_INPUT_REQUIRED',
      parts: [
        ...(isAnswer ? problemParts(parts, error) : []),
        ...(challenge ? [challengeText(challenge, form, !unpaid.isRedacted)] : []),
        ...understandingParts(error),
      ],
      metadata: paymentMetadata(isAnswer ? 'payment-failed' : 'payment-required', form, {
        required: challenge ? requiredIn(form, challenge) : requiredOf(resumed?.task),
        quote: challenge?.quote,
        receipts: withFailed(receipts, settlement),
        error: isAnswer ? paymentErrorCode(error) : undefined,
      }),
      unpaid,
      caller,
    }
  }

  /** The work failed (then nothing was charged), or nobody knows yet whether the payment went through. */
  function failed(error: GatewayError): Outcome {
    const claimId = error.extras['claim_id']
    const isPending = error.code === 'settlement_unknown' && typeof claimId === 'string'
    return {
      kind: 'ended',
      state: isPending ? 'TASK_STATE_WORKING' : 'TASK_STATE_FAILED',
      parts: [...problemParts(parts, error), ...(isPending ? [textPart(PENDING)] : [])],
      // Still submitted and not failed: that would invite a second payment.
      metadata: paymentMetadata(isPending ? 'payment-submitted' : 'payment-failed', form, {
        receipts: withFailed(receipts, paymentFactsOf(error).settlement),
        error: isPending ? undefined : paymentErrorCode(error),
      }),
      ...(isPending && { pending: { claimId, skill: skill.id, asText, wantsSignatures } }),
    }
  }

  return {
    reply: 'task',
    async run({ signal, accepted, status, reserve }) {
      let isOpen = false
      let isAtWork = false
      if (resumed && submission.isDeclined) {
        await accepted(null)
        const metadata = paymentMetadata('payment-rejected', form, { receipts })
        return { kind: 'ended', state: 'TASK_STATE_CANCELED', parts: [textPart(DECLINED)], metadata }
      }
      if (resumed && submission.payment) {
        // The task is taken before the payment is looked at, so a copy of this message finds it at work.
        await accepted(null, [textPart(SUBMITTED)], paymentMetadata('payment-submitted', form, { receipts }))
        isOpen = true
      }
      const verified = paymentMetadata('payment-verified', form, { receipts })
      const result = await calls.call({
        ...requestOf(parts, signal),
        async onAccepted(caller) {
          // Canceled while the payment was checked: the claim is let go.
          if (signal.aborted) throw new GatewayError('state_conflict', 'This task was canceled.')
          if (submission.payment) reserve()
          if (isOpen) status('TASK_STATE_WORKING', [textPart(VERIFIED)], verified)
          else if (submission.payment) await accepted(caller, [textPart(VERIFIED)], verified)
          else await accepted(caller)
          isOpen = true
          isAtWork = true
        },
        progress(report) {
          // "Verified" was said when the call was accepted.
          if (report.isAcceptance) return
          const metadata = submission.payment ? verified : undefined
          status('TASK_STATE_WORKING', [textPart(progressText(report))], metadata)
        },
      })
      noteLimits(parts.call.seen, result)
      const { caller } = result
      // A stored result is released without any work, so nothing may have been accepted yet.
      if (result.ok) {
        const output = answerPart(parts, result)
        return { ...(result.paid ? paid(output, result.paid) : completed(skill, output)), caller }
      }
      const { error } = result
      if (paymentFactsOf(error).challenge) return challenged(error, caller)
      if (isAtWork) return failed(error)
      return isOpen ? challenged(error, caller) : { kind: 'refused', error }
    },
  }
}

/** What the request was understood as, so that whoever pays knows what is done and what is left out. */
const understandingParts = ({ extras }: GatewayError): readonly WirePart[] =>
  extras['intent'] === undefined ? [] : [dataPart({ intent: extras['intent'] })]

const withFailed = (receipts: readonly SettleResponse[], settlement: SettleResponse | undefined) =>
  settlement === undefined ? receipts : [...receipts, settlement]

const SUBMITTED = 'The payment is being checked.'
const VERIFIED = 'The payment is good and reserved for this task; it is settled when the work is done.'
const PENDING = 'This task ends by itself once it is known: read it again in a few seconds.'
const DECLINED = 'Not paid, so nothing was done.'
