// The caller's token as a member of the input: some clients of MCP and A2A cannot set a header. Never a service key, which operates an
// account and has no business where models read and repeat it.
import type { PresentedTokens } from './authenticate.ts'
import type { AnyTool } from './tool.ts'

export type TokenArgument = 'capability' | 'email_key'

/** The member of this tool's input that is the caller's token; undefined where there is none. */
export const tokenArgument = ({ caller }: Pick<AnyTool, 'caller'>): TokenArgument | undefined =>
  caller === 'email'
    ? 'email_key'
    : caller === 'capability' || caller === 'account'
      ? 'capability'
      : undefined

/** The tokens as a door found them, and the one in the input (contract, section 4); over REST only a JSON body has one. */
export function withTokenArgument(tool: AnyTool, input: unknown, tokens: PresentedTokens): PresentedTokens {
  const name = tokenArgument(tool)
  if (name === undefined || typeof input !== 'object' || input === null) return tokens
  const token: unknown = Reflect.get(input, name)
  if (typeof token !== 'string') return tokens
  return name === 'capability'
    ? { ...tokens, capabilityArgument: token }
    : { ...tokens, emailKeyArgument: token }
}
