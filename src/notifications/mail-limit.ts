// How many mails one mailbox is sent in an hour. Whoever may prepare permits could fill it otherwise, and with it what its owner reads.
export const MAILS_PER_HOUR = 30
const HOUR_MS = 3_600_000

export interface MailLimit {
  /** @returns false where the mailbox had its share: what is not sent now is tried again later, as after any failure */
  take(address: string): boolean
}

/** Counts in this process. */
export function createMailLimit(now: () => number, perHour: number = MAILS_PER_HOUR): MailLimit {
  const sent = new Map<string, number[]>()
  return {
    take(address) {
      const since = now() - HOUR_MS
      for (const [each, times] of sent) if ((times.at(-1) ?? 0) <= since) sent.delete(each)
      const recent = (sent.get(address) ?? []).filter((at) => at > since)
      if (recent.length >= perHour) return false
      sent.set(address, [...recent, now()])
      return true
    },
  }
}
