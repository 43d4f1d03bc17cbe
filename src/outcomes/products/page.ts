// Bytes of a shop page -> the products and offers that it states in a structured form.
import type { PageInput, Reading } from '../ports.ts'

export interface PageProducts {
  readonly truncated: readonly string[]
}

export function readProducts(_input: PageInput): Reading<PageProducts> {
  return { ok: false, reason: 'no_product', detail: 'not built yet' }
}
