// Losses and faults that no call tells of, counted by their kind. Each series begins at 0: a rule sees the first one only as a change.
import { FAULT_KINDS, type FaultKind, type OnFault } from '../core/faults.ts'
import type { Telemetry } from './port.ts'

/** @returns what the parts tell of their faults */
export function observeFaults(telemetry: Pick<Telemetry, 'add'>): OnFault {
  const count = (kind: FaultKind, by: number) =>
    telemetry.add('agent_gateway.faults', by, { 'agent_gateway.fault': kind })
  for (const kind of FAULT_KINDS) count(kind, 0)
  return (kind) => count(kind, 1)
}
