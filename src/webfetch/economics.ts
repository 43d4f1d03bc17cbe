// Cost of a fetch and whether its price holds: a formula over a configuration. All amounts are whole millionths of
// a US dollar, which is what one atomic unit of USDC stands for.
import { WEB_FETCH_PRICE_ATOMIC } from '../../schemas/web-fetch.ts'

export interface EconomicsConfig {
  readonly customerPriceUsdMicros: bigint
  /** Paid to others for one fetch. */
  readonly providerCostUsdMicros: bigint
  readonly infrastructureBudgetUsdMicros: bigint
  readonly paymentBudgetUsdMicros: bigint
  /** The least share of the price that remains, in hundredths of a per cent. */
  readonly minimumContributionBps: bigint
}

export const DEFAULT_ECONOMICS: EconomicsConfig = {
  customerPriceUsdMicros: WEB_FETCH_PRICE_ATOMIC,
  providerCostUsdMicros: 0n,
  infrastructureBudgetUsdMicros: 100n,
  paymentBudgetUsdMicros: 0n,
  minimumContributionBps: 2000n,
}

export const FORMULA =
  'The fixed customer price must cover the configured direct-cost budgets and the minimum contribution margin: ' +
  'minimum_price = ceil((provider_cost + infrastructure_cost_budget + payment_cost_budget) / ' +
  '(1 - minimum_contribution_bps / 10000)); available when customer_price >= minimum_price.'

export const LEGACY_MARGIN =
  'gateway_margin_usd_micros is the markup over the upstream cost, before infrastructure and payment costs. It is not profit.'

export type RejectionReason = 'invalid_configuration' | 'price_below_minimum'

/** The `economics` object of the pricing document, of quotes and of preflights. */
export interface Economics {
  readonly basis: string
  readonly configured: boolean
  readonly available: boolean
  readonly rejection_reason: RejectionReason | null
  readonly customer_price_usd_micros: number
  readonly provider_cost_usd_micros: number
  readonly provider_cost_basis: string
  readonly infrastructure_cost_budget_usd_micros: number
  readonly payment_cost_budget_usd_micros: number
  readonly minimum_contribution_bps: number
  /** Null when no price can satisfy the configuration. */
  readonly minimum_price_usd_micros: number | null
  readonly estimated_contribution_usd_micros: number
  readonly estimated_contribution_margin_bps: number | null
  readonly actual_infrastructure_cost_usd_micros: null
  readonly actual_payment_cost_usd_micros: null
  readonly gross_profit_usd_micros: null
  readonly net_profit_usd_micros: null
}

const FULL_BPS = 10_000n

/** Costs, margin and whether the price carries them; all amounts are millionths of a US dollar. */
export function computeEconomics(config: EconomicsConfig): Economics {
  const price = config.customerPriceUsdMicros
  const cost =
    config.providerCostUsdMicros + config.infrastructureBudgetUsdMicros + config.paymentBudgetUsdMicros
  const isConfigured = isValid(config)
  const minimum = isConfigured
    ? ceilDivide(cost * FULL_BPS, FULL_BPS - config.minimumContributionBps)
    : undefined
  const rejection: RejectionReason | null =
    minimum === undefined ? 'invalid_configuration' : price < minimum ? 'price_below_minimum' : null
  const contribution = price - cost
  return {
    basis: 'Budgets for one fetch, set before it runs. Actual costs are not measured per call.',
    configured: isConfigured,
    available: rejection === null,
    rejection_reason: rejection,
    customer_price_usd_micros: Number(price),
    provider_cost_usd_micros: Number(config.providerCostUsdMicros),
    provider_cost_basis: 'The gateway fetches by itself: no provider is paid for a fetch.',
    infrastructure_cost_budget_usd_micros: Number(config.infrastructureBudgetUsdMicros),
    payment_cost_budget_usd_micros: Number(config.paymentBudgetUsdMicros),
    minimum_contribution_bps: Number(config.minimumContributionBps),
    minimum_price_usd_micros: minimum === undefined ? null : Number(minimum),
    estimated_contribution_usd_micros: Number(contribution),
    estimated_contribution_margin_bps:
      price > 0n ? Number(floorDivide(contribution * FULL_BPS, price)) : null,
    actual_infrastructure_cost_usd_micros: null,
    actual_payment_cost_usd_micros: null,
    gross_profit_usd_micros: null,
    net_profit_usd_micros: null,
  }
}

const isValid = (config: EconomicsConfig) =>
  Object.values(config).every((value: bigint) => value >= 0n) &&
  config.customerPriceUsdMicros > 0n &&
  config.minimumContributionBps < FULL_BPS

const ceilDivide = (dividend: bigint, divisor: bigint) => (dividend + divisor - 1n) / divisor
/** Towards minus infinity: a loss is not rounded away. */
const floorDivide = (dividend: bigint, divisor: bigint) =>
  dividend >= 0n ? dividend / divisor : -ceilDivide(-dividend, divisor)

/** The numbers, without the sentences around them: a header is short. */
export const figuresOf = (economics: Economics) =>
  Object.fromEntries(
    Object.entries(economics).filter(
      ([name, value]) => value !== null && name !== 'basis' && !name.endsWith('_basis'),
    ),
  )
