// Every page: the buttons that copy, and the choice of colours.

document.addEventListener('click', (event) => {
  const button =
    event.target instanceof Element ? event.target.closest<HTMLButtonElement>('[data-copy]') : null
  if (button) void copy(button)
})

/** Copies what the button names, or the code beside it, and says so for a moment. */
async function copy(button: HTMLButtonElement): Promise<void> {
  const text = button.dataset['copy'] || button.parentElement?.querySelector('code')?.textContent || ''
  await navigator.clipboard.writeText(text)
  const words = button.textContent
  button.textContent = button.dataset['copied'] ?? words
  button.dataset['state'] = 'done'
  setTimeout(() => {
    button.textContent = words
    delete button.dataset['state']
  }, 1500)
}

const theme = document.querySelector<HTMLSelectElement>('[data-theme-choice]')
if (theme) {
  theme.value = document.documentElement.dataset['theme'] ?? 'auto'
  theme.addEventListener('change', () => {
    const { dataset } = document.documentElement
    if (theme.value === 'auto') delete dataset['theme']
    else dataset['theme'] = theme.value
    try {
      if (theme.value === 'auto') localStorage.removeItem('theme')
      else localStorage.setItem('theme', theme.value)
    } catch {
      // It holds for this page at least.
    }
  })
}
