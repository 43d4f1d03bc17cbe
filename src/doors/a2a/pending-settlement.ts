// A paid task whose settlement is not known yet. Nobody works on it any more, and it stays "working" on the wire until the chain
// has decided its claim: every read of the task asks.
import { randomUUID } from 'node:crypto'
import { LogField, type Logger } from '../../lib/log.ts'
import type { AnyTool } from '../../core/registry.ts'
import type { PaymentGate } from '../../core/charging.ts'
import { messageAnswer } from '../message-answer.ts'
import { formOf } from './x402-form.ts'
import { paymentMetadata, receiptsOf } from './x402-metadata.ts'
import {
  dataPart,
  type Json,
  textPart,
  type TaskStateName,
  type WireArtifact,
  type WirePart,
  type WireTask,
} from './wire.ts'

export interface PendingSettlement {
  readonly claimId: string
  readonly skill: string
  readonly asText: boolean
  /** Tasks that were stored by an earlier version do not say it: they get the receipt whole. */
  readonly wantsSignatures?: boolean
}

/** How the task ends. */
export interface Decision {
  readonly state: TaskStateName
  readonly parts: readonly WirePart[]
  readonly metadata: Json
  readonly artifacts?: readonly WireArtifact[]
}

/** Undefined as long as it is not known. */
export type DecidePending = (task: WireTask, pending: PendingSettlement) => Promise<Decision | undefined>

/**
 * @param findTool the tool of a skill
 * @returns a look at the claim of a paused task: paid for, refused, or not decided yet
 */
export function createDecidePending(
  payments: Pick<PaymentGate, 'outcome'>,
  findTool: (skill: string) => AnyTool | undefined,
  log: Logger,
): DecidePending {
  /** One look at a chain at a time, however many readers. */
  const looking = new Map<string, ReturnType<typeof lookOnce>>()

  function look(claimId: string): ReturnType<typeof lookOnce> {
    const current = looking.get(claimId)
    if (current) return current
    const look = lookOnce(claimId).finally(() => looking.delete(claimId))
    looking.set(claimId, look)
    return look
  }

  /** A task can be read whatever fails here: then it is simply not known yet. */
  async function lookOnce(claimId: string) {
    try {
      return await payments.outcome(claimId)
    } catch (thrown) {
      log.error({ [LogField.claim]: claimId, err: thrown }, 'the payment of an a2a task cannot be read')
      return undefined
    }
  }

  return async (task, { claimId, skill, asText, wantsSignatures = true }) => {
    const outcome = await look(claimId)
    if (!outcome) return undefined
    const { claim, paid } = outcome
    const form = formOf(task)
    const before = receiptsOf(task).filter(({ errorReason }) => errorReason !== 'settlement_pending')
    if (claim.state === 'settled') {
      const tool = findTool(skill)
      const whole = paid && { output: paid.output, json: () => paid.json }
      const answer =
        whole && tool
          ? messageAnswer({ tool, wantsSignatures }, { input: undefined, output: paid.output, paid })
          : whole
      const output =
        answer && (asText ? { text: answer.json(), mediaType: 'text/plain' } : dataPart(answer.output))
      return {
        state: 'TASK_STATE_COMPLETED',
        parts: [textPart(paid ? SETTLED : RESULT_GONE)],
        metadata: paymentMetadata('payment-completed', form, {
          receipts: [
            ...before,
            paid?.settlement ?? {
              success: true,
              transaction: claim.transaction ?? '',
              network: claim.network,
              payer: claim.payer,
              amount: claim.amount,
            },
          ],
        }),
        ...(output && { artifacts: [{ artifactId: randomUUID(), name: skill, parts: [output] }] }),
      }
    }
    if (claim.state !== 'failed' && claim.state !== 'canceled') return undefined
    const errorReason = claim.reason ?? claim.state
    return {
      state: 'TASK_STATE_FAILED',
      parts: [textPart(NOT_SETTLED)],
      metadata: paymentMetadata('payment-failed', form, {
        receipts: [
          ...before,
          { success: false, errorReason, transaction: claim.transaction ?? '', network: claim.network },
        ],
        error: 'SETTLEMENT_FAILED',
      }),
    }
  }
}

const SETTLED = 'Paid and settled. The result is in the artifact, its receipt in it.'
const RESULT_GONE = 'Paid and settled. The result is not kept any longer.'
const NOT_SETTLED =
  'The payment was not settled: nothing was charged. Send the message again without taskId to pay anew.'
