// The requirements that tests cite, by family: id, level, where it is written, and what it means for this gateway.
// `npm run requirements` prints them with the tests that show them and how those ended.
import { test } from 'vitest'
import { A2A_REQUIREMENTS } from './requirements/a2a.ts'
import { EGRESS_REQUIREMENTS } from './requirements/egress.ts'
import type { Requirement } from './requirements/levels.ts'
import { MCP_REQUIREMENTS } from './requirements/mcp.ts'
import { X402_REQUIREMENTS } from './requirements/x402.ts'

const ALL = { ...A2A_REQUIREMENTS, ...MCP_REQUIREMENTS, ...X402_REQUIREMENTS, ...EGRESS_REQUIREMENTS }
export type RequirementId = keyof typeof ALL
export const REQUIREMENTS: Readonly<Record<string, Requirement>> = ALL

/** A title with the requirements that its test shows; for tables too, where each row is such a test. */
export const cites = (ids: RequirementId | readonly RequirementId[], title: string): string =>
  `${title} [${[ids].flat().join(', ')}]`

/** A test that shows these requirements; its title is a sentence. */
export function verifies(
  ids: RequirementId | readonly RequirementId[],
  title: string,
  run: () => Promise<void> | void,
): void {
  test(cites(ids, title), run)
}
