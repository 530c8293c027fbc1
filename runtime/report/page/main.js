const r = JSON.parse(document.getElementById("data").textContent); document.getElementById("report").textContent = r.bound;
