// Every tool of the gateway, listed by hand: what is not here is served nowhere.
import type { AnyTool } from '../src/registry.ts'

export const tools: readonly AnyTool[] = []
