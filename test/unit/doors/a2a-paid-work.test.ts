import { describe, expect, test } from 'vitest'
import type { CallPath, CallRequest } from '../../../src/core/call.ts'
import { readSubmission } from '../../../src/doors/a2a/x402-metadata.ts'
import { paidWork } from '../../../src/doors/a2a/paid-work.ts'
import { createSkillTable } from '../../../src/doors/a2a/skills.ts'
import type { WorkContext } from '../../../src/doors/a2a/work.ts'
import { toGatewayError } from '../../../src/core/errors.ts'
import { createRegistry } from '../../../src/core/registry.ts'
import { paidTool, payment } from '../../support/paid-door.ts'

const skill = createSkillTable(createRegistry([paidTool])).find('buy')!

describe('paid work', () => {
  test('does not begin when the task was canceled while its payment was checked', async () => {
    const controller = new AbortController()
    const seen: string[] = []
    const calls: Pick<CallPath, 'call'> = {
      async call({ onAccepted }: CallRequest) {
        controller.abort()
        try {
          await onAccepted!({ kind: 'anonymous', id: 'anonymous', address: '' })
          throw new Error('the work would have begun')
        } catch (thrown) {
          return { ok: false, error: toGatewayError(thrown) }
        }
      },
    }
    const metadata = { 'x402.payment.payload': payment('good') }
    const context: WorkContext = {
      signal: controller.signal,
      accepted: () => void seen.push('accepted'),
      status: () => void seen.push('status'),
      artifact: () => void seen.push('artifact'),
      reserve: () => void seen.push('hold'),
    }
    const work = paidWork({
      calls: calls as CallPath,
      call: {
        tokens: {},
        address: '',
        requestId: 'req_1',
        traceparent: undefined,
        version: '1.0',
        extensions: [],
        gone: controller.signal,
      },
      skill,
      input: { text: 'hi' },
      asText: false,
      wantsSignatures: false,
      toProblem: (error) => ({ code: error.code }) as never,
      submission: readSubmission({
        message: { messageId: 'm', role: 'ROLE_USER', parts: [], metadata },
        metadata: undefined,
      }),
      resumed: undefined,
    })
    expect(await work.run(context)).toMatchObject({ kind: 'refused', error: { code: 'state_conflict' } })
    expect(seen).toEqual([])
  })
})
