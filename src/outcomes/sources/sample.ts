// Sample sources that ship with the gateway: what a demo of a paid capability reads instead of the world.
import type { SourceReader } from '../ports.ts'

export function createSampleReader(_now: () => number): SourceReader {
  return { read: async () => ({ ok: false, reason: 'unreadable', detail: 'not built yet' }) }
}
