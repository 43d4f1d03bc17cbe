import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { computeEconomics, DEFAULT_ECONOMICS, type EconomicsConfig } from '../../../src/webfetch/economics.ts'

describe('economics', () => {
  it('has every figure of the specification at the default configuration', () => {
    const { basis, provider_cost_basis, ...figures } = computeEconomics(DEFAULT_ECONOMICS)
    expect(basis).toBeTypeOf('string')
    expect(provider_cost_basis).toBeTypeOf('string')
    expect(figures).toEqual({
      configured: true,
      available: true,
      rejection_reason: null,
      customer_price_usd_micros: 1000,
      provider_cost_usd_micros: 0,
      infrastructure_cost_budget_usd_micros: 100,
      payment_cost_budget_usd_micros: 0,
      minimum_contribution_bps: 2000,
      minimum_price_usd_micros: 125,
      estimated_contribution_usd_micros: 900,
      estimated_contribution_margin_bps: 9000,
      actual_infrastructure_cost_usd_micros: null,
      actual_payment_cost_usd_micros: null,
      gross_profit_usd_micros: null,
      net_profit_usd_micros: null,
    })
  })

  it.each<[string, Partial<EconomicsConfig>, object]>([
    [
      'the least price that covers everything',
      { customerPriceUsdMicros: 125n },
      { available: true, estimated_contribution_margin_bps: 2000 },
    ],
    [
      'a price just below it',
      { customerPriceUsdMicros: 124n },
      { available: false, rejection_reason: 'price_below_minimum', estimated_contribution_margin_bps: 1935 },
    ],
    [
      'a minimum that is rounded up',
      { infrastructureBudgetUsdMicros: 101n, minimumContributionBps: 3333n },
      { minimum_price_usd_micros: 152 },
    ],
    [
      'three budgets',
      { providerCostUsdMicros: 300n, paymentBudgetUsdMicros: 400n },
      { minimum_price_usd_micros: 1000, estimated_contribution_usd_micros: 200, available: true },
    ],
    [
      'a price below its costs',
      { customerPriceUsdMicros: 30n },
      {
        available: false,
        estimated_contribution_usd_micros: -70,
        estimated_contribution_margin_bps: -23_334,
      },
    ],
    [
      'a contribution that nothing can reach',
      { minimumContributionBps: 10_000n },
      {
        configured: false,
        available: false,
        rejection_reason: 'invalid_configuration',
        minimum_price_usd_micros: null,
      },
    ],
    ['a price of nothing', { customerPriceUsdMicros: 0n }, { configured: false, available: false }],
    ['a negative budget', { paymentBudgetUsdMicros: -1n }, { configured: false, available: false }],
  ])('%s', (_, change, expected) => {
    expect(computeEconomics({ ...DEFAULT_ECONOMICS, ...change })).toMatchObject(expected)
  })

  it('calls a price available exactly when what is left after costs is the minimum share of it', () => {
    const amount = fc.bigInt({ min: 0n, max: 1_000_000n })
    fc.assert(
      fc.property(
        amount,
        amount,
        amount,
        amount,
        fc.bigInt({ min: 0n, max: 9999n }),
        (price, a, b, c, bps) => {
          const economics = computeEconomics({
            customerPriceUsdMicros: price + 1n,
            providerCostUsdMicros: a,
            infrastructureBudgetUsdMicros: b,
            paymentBudgetUsdMicros: c,
            minimumContributionBps: bps,
          })
          const left = price + 1n - a - b - c
          expect(economics.available).toBe(left * 10_000n >= (price + 1n) * bps)
        },
      ),
    )
  })
})
