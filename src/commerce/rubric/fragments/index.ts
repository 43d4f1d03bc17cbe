// How what a check asks for is written: one fragment of a header or of JSON for every check, with `<placeholders>` where a value belongs.
// They are constants: nothing of a sample is ever in them.
import { ACP, UCP } from './checkout.ts'
import { AP2 } from './mandate.ts'
import { MCP, MPP, X402 } from './payment.ts'

/** Fragments by check. */
export const FRAGMENTS: ReadonlyMap<string, string> = new Map(
  [X402, MPP, AP2, UCP, ACP, MCP].flatMap((rows) =>
    Object.entries(rows).flatMap(([ids, fragment]) => ids.split(' ').map((id) => [id, fragment] as const)),
  ),
)

/** @returns null where no check has this id */
export const fragmentOf = (id: string): string | null => FRAGMENTS.get(id) ?? null
