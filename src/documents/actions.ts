// The manifest of action permits and their credit boundary, as plain JSON.
import { type Config, EGRESS_VERSION } from '../config.ts'
import type { Addresses } from '../doors/http.ts'
import type { Registry } from '../registry.ts'

type Json = Record<string, unknown>

export function actionsManifest(_registry: Registry, { baseUrl }: Addresses): Json {
  return {
    name: 'Agent Gateway action permits',
    version: EGRESS_VERSION,
    permits: `${baseUrl}/v1/actions/permits`,
  }
}

export function actionsPricing({ baseUrl }: Addresses, config: Pick<Config, 'serviceKeyCredits'>): Json {
  return {
    version: EGRESS_VERSION,
    unit: 'credit',
    free_credits_per_account: config.serviceKeyCredits,
    balance: `${baseUrl}/v1/credits`,
  }
}
