"use strict";
(function () {
  const page = document.documentElement;
  const figures = JSON.parse(document.getElementById("figures").textContent);
  const options = {
    renderer: "svg",
    actions: { export: true, source: false, compiled: false, editor: false },
    downloadFileName: "figure",
    tooltip: { theme: "page" },
  };
  const drawn = Object.entries(figures).map(([place, figure]) =>
    vegaEmbed(document.getElementById(place), figure, options).catch((error) => {
      document.getElementById(place).textContent = "This figure could not be drawn.";
      console.error(place, error);
    })
  );
  Promise.all(drawn).then(() => page.setAttribute("data-drawn", String(drawn.length)));
})();
