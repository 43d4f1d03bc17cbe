// Every tool of the gateway, listed by hand: what is not here is served nowhere.
import type { AnyTool } from '../src/registry.ts'
import { execute } from './execute.ts'

export const tools: readonly AnyTool[] = [execute]
