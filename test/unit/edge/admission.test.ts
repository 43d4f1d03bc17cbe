// What strangers can take in the name of one merchant.
import { beforeEach, describe, expect, it } from 'vitest'
import {
  type Admission,
  createAdmission,
  MERCHANT_IN_FLIGHT,
  MERCHANT_PER_MINUTE,
} from '../../../src/edge/admission.ts'
import { GatewayError } from '../../../src/core/errors.ts'
import { createRateLimiter } from '../../../src/core/rate-limit.ts'

let admission: Admission
beforeEach(() => {
  admission = createAdmission(createRateLimiter(undefined))
})

async function refusalOf(merchant: string): Promise<unknown> {
  try {
    ;(await admission.enter(merchant))()
    return undefined
  } catch (thrown) {
    if (!(thrown instanceof GatewayError)) throw thrown
    const { code, extras } = thrown
    return { code, waits: (extras.retry_after_seconds ?? 0) > 0 }
  }
}
const enterAll = (merchant: string, count: number) =>
  Promise.all(Array.from({ length: count }, () => admission.enter(merchant)))

describe('calls under way to one merchant', () => {
  it('are as many as one merchant may hold, all asked for at once, and other merchants have their own', async () => {
    const asked = Array.from({ length: MERCHANT_IN_FLIGHT + 7 }, () => admission.enter('a'))
    const ended = await Promise.allSettled(asked)
    expect(ended.filter(({ status }) => status === 'fulfilled')).toHaveLength(MERCHANT_IN_FLIGHT)
    expect(await refusalOf('a')).toEqual({ code: 'overloaded', waits: true })
    expect(await refusalOf('b')).toBeUndefined()
  })

  it('make place for another one each', async () => {
    const leave = await enterAll('a', MERCHANT_IN_FLIGHT)
    leave[0]!()
    leave[1]!()
    await enterAll('a', 2)
    expect(await refusalOf('a')).toEqual({ code: 'overloaded', waits: true })
  })
})

describe('calls to one merchant in a minute', () => {
  it('are as many as one may spend, and one too many holds no place', async () => {
    for (let call = 0; call < MERCHANT_PER_MINUTE; call++) (await admission.enter('a'))()
    for (let call = 0; call < MERCHANT_IN_FLIGHT + 1; call++)
      expect(await refusalOf('a')).toEqual({ code: 'rate_limited', waits: true })
    expect(await refusalOf('b')).toBeUndefined()
  })

  it('are not counted where there are no limits', async () => {
    admission = createAdmission(createRateLimiter(0))
    for (let call = 0; call <= MERCHANT_PER_MINUTE; call++) (await admission.enter('a'))()
    await enterAll('a', MERCHANT_IN_FLIGHT)
    expect(await refusalOf('a')).toEqual({ code: 'overloaded', waits: true })
  })
})
