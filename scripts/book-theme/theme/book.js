// On a narrow window the lists of pages and of sections open by buttons; Escape closes them.
document.addEventListener('click', (event) => {
  const button = event.target.closest('button[data-opens]');
  if (button) document.getElementById(button.dataset.opens).checked = true;
});
document.addEventListener('keydown', (event) => {
  if (event.key === 'Escape') for (const box of document.querySelectorAll('.sidebar-toggle')) box.checked = false;
});
