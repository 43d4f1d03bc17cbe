// The time in which something holds, as arithmetic: whoever asks knows the time and how much of a difference it tolerates.

/** Seconds since the epoch; null where it does not say. */
export interface Window {
  readonly notBefore: bigint | number | null
  readonly expiresAt: bigint | number | null
}
export interface WindowBounds {
  /** It may begin no later than this. */
  readonly latestStart: bigint | number
  /** It may end no sooner, and no later. */
  readonly earliestEnd: bigint | number
  readonly latestEnd: bigint | number
}
export type WindowProblem = 'ends_too_soon' | 'ends_too_late' | 'starts_too_late' | 'is_never_open'

/** Problems of a window, the worst first; none where it is open long enough and not longer. */
export function findWindowProblems(
  { notBefore, expiresAt }: Window,
  { latestStart, earliestEnd, latestEnd }: WindowBounds,
): readonly WindowProblem[] {
  const found: WindowProblem[] = []
  if (expiresAt !== null && expiresAt < earliestEnd) found.push('ends_too_soon')
  if (expiresAt !== null && expiresAt > latestEnd) found.push('ends_too_late')
  if (notBefore !== null && notBefore > latestStart) found.push('starts_too_late')
  if (isNeverOpen({ notBefore, expiresAt })) found.push('is_never_open')
  return found
}

/** Whether it ends before, or when, it begins: no clock can be inside it. */
export const isNeverOpen = ({ notBefore, expiresAt }: Window): boolean =>
  notBefore !== null && expiresAt !== null && expiresAt <= notBefore
