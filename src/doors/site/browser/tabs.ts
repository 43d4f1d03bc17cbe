// The tab that a visitor chose is chosen on the next page, too: who reads Python reads Python everywhere. The page without this script is whole.
const KEY = 'tab'

function remembered(): string | undefined {
  try {
    return localStorage.getItem(KEY) ?? undefined
  } catch {
    return undefined
  }
}

const tabs = [...document.querySelectorAll<HTMLInputElement>('input[data-tab]')]
const wanted = remembered()
for (const tab of tabs) if (tab.value === wanted) tab.checked = true

document.addEventListener('change', ({ target }) => {
  if (!(target instanceof HTMLInputElement) || target.dataset['tab'] === undefined) return
  try {
    localStorage.setItem(KEY, target.value)
  } catch {
    // It holds for this page at least.
  }
})
